"""The sandbox around a player: what it may see, how it is started and watched, and how all of it ends."""

from grader.referee.sandbox.layers import Layer, layers, notice, require
from grader.referee.sandbox.mounts import Mounts, mounts_for
from grader.referee.sandbox.sandboxed import SandboxedProcess, start

__all__ = [
    "Layer",
    "Mounts",
    "SandboxedProcess",
    "layers",
    "mounts_for",
    "notice",
    "require",
    "start",
]
