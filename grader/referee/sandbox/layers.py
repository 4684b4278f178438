"""Which layers of the sandbox this machine has, and why one is missing."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from grader.domain.errors import BadInputError
from grader.domain.options import require_sandbox
from grader.protocol.confinement import landlock, seccomp
from grader.referee.sandbox import bubblewrap


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: whether it works here, and what it does or why it does not."""

    name: str
    active: bool
    why: str


def layers() -> list[Layer]:
    """All layers, the outermost first."""
    no_bwrap, no_seccomp, no_landlock = bubblewrap.trouble(), seccomp.trouble(), landlock.trouble()
    linux = sys.platform.startswith("linux")
    return [
        Layer("bubblewrap", not no_bwrap, no_bwrap or "own processes, network, users and files"),
        Layer(
            "landlock", not no_landlock, no_landlock or "the list of readable files, in the kernel once more"
        ),
        Layer("seccomp", not no_seccomp, no_seccomp or "system calls that no submission needs are refused"),
        Layer("rlimits", active=True, why="bounds on the size of files, open files and processor time"),
        Layer("watcher", linux, "bounds on memory and processes" if linux else "it reads Linux's /proc"),
    ]


def require(mode: str) -> None:
    """For "strict": :class:`~grader.domain.errors.BadInputError` unless all that the sandbox rests on is
    there."""
    require_sandbox(mode)
    if mode != "strict":
        return
    # Landlock repeats what bubblewrap does already; kernels without it are no reason to refuse.
    missing = [f"{x.name}: {x.why}" for x in layers() if not x.active and x.name != "landlock"]
    if missing:
        raise BadInputError(f"The full sandbox cannot be set up here ({'; '.join(missing)}).")


def notice(mode: str) -> str:
    """What to tell whoever grades: that there is no sandbox, or what it lacks here; "" for a whole one."""
    if mode == "off":
        return "Sandbox off: the file runs with your rights and can do whatever you can."
    missing = [f"{x.name} ({x.why})" for x in layers() if not x.active]
    return f"The sandbox lacks {', '.join(missing)}." if missing else ""
