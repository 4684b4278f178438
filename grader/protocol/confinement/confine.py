"""What a player gives up before it imports anything of the submission. None of it can be taken back.

The referee says what to give up, as one JSON argument. The layers that took effect are named in the player's
first message, which is sent before foreign code runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import resource
import struct
import sys
from pathlib import Path
from typing import TypedDict

from grader.protocol.confinement import landlock, seccomp


class Order(TypedDict, total=False):
    """What to give up. Limits alone are allowed; an empty order gives up nothing.

    ``limits`` by name, ``read``, ``list`` (names only) and ``write`` (paths), and the choices of
    :mod:`grader.protocol.confinement.seccomp`.
    """

    limits: dict[str, int]
    read: list[str]
    list: list[str]
    write: list[str]
    memory_files: bool
    namespaces: bool
    may_leave: bool


def confine(order: Order) -> list[str]:
    """Set limits, then Landlock, then the filter; the names of those that took effect."""
    if not order:
        return []
    done = []
    for name, most in order["limits"].items():
        _limit(name, most)
    done.append("rlimits")
    # When memory runs out the kernel should end this process and nobody else's.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if "read" not in order:  # a tool around this process has to see into it
        return done
    if sys.platform.startswith("linux"):
        _drop_capabilities()
    if not landlock.trouble():
        with contextlib.suppress(OSError):
            landlock.apply(order["read"], order["write"], order.get("list", ()))
            done.append("landlock")
    if not seccomp.trouble():
        with contextlib.suppress(OSError):
            seccomp.apply(
                memory_files=order["memory_files"],
                namespaces=order["namespaces"],
                may_leave=order["may_leave"],
            )
            done.append("seccomp")
    return done


def _limit(name: str, most: int) -> None:
    kind = getattr(resource, f"RLIMIT_{name}", None)
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (most, most))


def _drop_capabilities() -> None:
    """What root may do beyond its own files: with CAP_PERFMON it could read the referee's environment."""
    version, this_process = 0x20080522, 0
    header, data = struct.pack("Ii", version, this_process), bytes(24)
    ctypes.CDLL(None, use_errno=True).capset(header, data)
