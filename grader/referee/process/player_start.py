"""How a player is started: what it shares with the referee, its command line, and the process itself."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.protocol.arena import Arena
from grader.referee import sandbox
from grader.referee.sandbox import launch_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.referee.process.forkserver import Forkserver
    from grader.referee.sandbox.launch_spec import LaunchSpec
    from grader.referee.sandbox.sandboxed import SandboxedProcess

STEPS = 200_000_000  # of one block on the CPU back end: a loop that never ends is stopped by it


@dataclass(frozen=True, slots=True)
class Ends:
    """The referee's ends of what it shares with a player: wire, memory, and the pipe of what is printed."""

    line: socket.socket
    inbox: Arena
    outbox: Arena
    words: Arena
    printed: int

    def fds(self) -> list[int]:
        """Their file descriptors, in the order of the fields."""
        return [self.line.fileno(), self.inbox.fd, self.outbox.fd, self.words.fd, self.printed]

    @staticmethod
    def received(fds: Sequence[int]) -> Ends:
        """What another process has made and passed on."""
        line, *arenas, printed = fds
        inbox, outbox, words = (Arena(fd, os.fstat(fd).st_size) for fd in arenas)
        return Ends(socket.socket(fileno=line), inbox, outbox, words, printed)

    def close(self) -> None:
        """Give all of it back."""
        self.line.close()
        for arena in (self.inbox, self.outbox, self.words):
            arena.close()
        os.close(self.printed)


@dataclass(frozen=True, slots=True)
class PlayersEnds:
    """The other ends, which a player gets and the referee then closes."""

    line: socket.socket
    output: int

    def close(self) -> None:
        """Once the player has them."""
        self.line.close()
        os.close(self.output)


@dataclass(frozen=True, slots=True)
class Started:
    """A player that runs.

    ``began_s``: when, by ``time.monotonic``, which all processes of a machine share.
    """

    process: SandboxedProcess
    ends: Ends
    spec: LaunchSpec
    began_s: float


def connected() -> tuple[Ends, PlayersEnds]:
    """Both ends of everything, for a player that is to be started."""
    ours, theirs = socket.socketpair()
    printed, output = os.pipe()
    inbox, outbox, words = (Arena.create(name) for name in ("inbox", "outbox", "words"))
    return Ends(ours, inbox, outbox, words, printed), PlayersEnds(theirs, output)


def options(backend: str, spec: LaunchSpec) -> list[str]:
    """A player's command line without its file descriptors."""
    given = ["--backend", backend, "--step-budget", str(STEPS)]
    return [*given, "--confine", json.dumps(spec.confine), *launch_spec.libraries(backend)]


def command(backend: str, spec: LaunchSpec) -> list[str]:
    """What starts a player; :func:`named` adds its file descriptors."""
    return [sys.executable, "-m", "grader.player", *options(backend, spec)]


def passed(ends: Ends, theirs: PlayersEnds) -> dict[str, int]:
    """The file descriptors that a player gets, by the names of its options."""
    words = {"inbox": ends.inbox.fd, "outbox": ends.outbox.fd, "words": ends.words.fd}
    return {"wire": theirs.line.fileno()} | words


def named(fds: dict[str, int]) -> list[str]:
    """These file descriptors as options."""
    return [text for name, fd in fds.items() for text in (f"--{name}", str(fd))]


def process(
    backend: str,
    spec: LaunchSpec,
    ends: tuple[Ends, PlayersEnds],
    wrap: tuple[str, ...],
    env: dict[str, str],
    parent: Forkserver | None,
) -> SandboxedProcess:
    """A player's process, forked from ``parent`` if there is one. ``env`` adds to its environment."""
    ours, theirs = ends
    fds = passed(ours, theirs)
    if parent:
        return parent.spawn(options(backend, spec), tuple(fds.values()), theirs.output, env)
    return sandbox.start(
        [*wrap, *command(backend, spec), *named(fds)],
        spec.mounts,
        launch_spec.environment(backend) | env,
        tuple(fds.values()),
        theirs.output,
        namespaces=spec.namespaces,
    )
