"""The sandbox around a player: what it may see, how it is started and watched, and how all of it ends."""

from grader.referee.sandbox.layers import Layer, layers, notice, require
from grader.referee.sandbox.mounts import Room, furnish
from grader.referee.sandbox.sandboxed import Cage, start

__all__ = ["Cage", "Layer", "Room", "furnish", "layers", "notice", "require", "start"]
