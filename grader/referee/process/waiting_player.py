"""A player that waits: it runs in the whole sandbox, has imported torch, and has no file yet.

Each has a parent process of its own, forked from the server of a pool, which ends it as soon as nobody holds
it any more (:mod:`grader.referee.sandbox.handed_over`). So a player outlives the server that it was started
by, and never the grading that it was handed to.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.domain import typed_data
from grader.referee import sandbox
from grader.referee.process import player_start
from grader.referee.sandbox import launch_spec
from grader.referee.sandbox.handed_over import keep
from grader.referee.sandbox.mounts import Mounts

if TYPE_CHECKING:
    from typing import NoReturn

    from grader.protocol.wire import Json
    from grader.referee.process.player_start import Ends, PlayersEnds
    from grader.referee.sandbox.launch_spec import LaunchSpec

FOLDER = "@builds@"  # in a kind of players, for the folder that each of them has for itself


class Kind(msgspec.Struct, frozen=True):
    """All that a player is started with, in text, but for its file descriptors and its folder."""

    command: tuple[str, ...]
    env: dict[str, str]
    mounts: dict[str, tuple[str, ...]]
    namespaces: bool

    @staticmethod
    def described(backend: str, spec: LaunchSpec) -> str:
        """The kind of players that ``spec`` describes, as JSON."""
        mounts = {f.name: tuple(map(str, getattr(spec.mounts, f.name))) for f in fields(Mounts)}
        command = (*player_start.command(backend, spec), "--waits")
        kind = Kind(command, launch_spec.environment(backend), mounts, spec.namespaces)
        return msgspec.json.encode(kind, order="sorted").decode()


def slept_s() -> tuple[float, float]:
    """Seconds that this machine has been suspended since it was started: at least, and at most.

    Two clocks are read, and a busy machine may let this process wait between them.
    """
    before_s = time.monotonic()
    since_start_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return since_start_s - time.monotonic(), since_start_s - before_s


class WaitingPlayer:
    """One of them, as the pool's server holds it. It is started when this is made."""

    def __init__(self, kind: str) -> None:
        self.builds = launch_spec.builds_folder()
        self.began_s, self._slept_s = time.monotonic(), slept_s()[1]
        self.ready = False
        self._said: Json = {}
        self.ends, theirs = player_start.connected()
        # Frames with bounds: each message arrives whole, and an end is told from an empty one.
        self.control, below = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        made = typed_data.decode(kind.replace(FOLDER, self.builds), Kind)
        # Held open, so that no other file can get the number of one that is removed.
        seen = {path for paths in made.mounts.values() for path in paths if Path(path).exists()}
        self._mounted = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in seen - {self.builds}}
        if os.fork() == 0:
            _be_its_parent(made, self.ends, theirs, below, self.builds)
        theirs.close()
        below.close()

    def look(self) -> bool:
        """See how far it is; False when it has ended or is of no use any more."""
        try:
            for end in select.select([self.control, self.ends.line], [], [], 0)[0]:
                if end is self.ends.line:  # its first word, which is for whoever gets it
                    self.ready = bool(self.ends.line.recv(1, socket.MSG_PEEK))
                elif self._said or not (data := self.control.recv(1 << 10)):
                    return False
                else:
                    self._said = json.loads(data)
        except ConnectionError:  # what one player does must not end the server of all
            return False
        return True

    @property
    def started(self) -> bool:
        """Whether it has a process by now; it may still import torch."""
        return bool(self._said)

    @property
    def fresh(self) -> bool:
        """Whether it is of use yet.

        When the machine has slept, a GPU has forgotten what it held. Where a folder that it sees was removed,
        as when the cache is emptied, it still sees the old one, and not what was made in its place.
        """
        slept = slept_s()[0] - self._slept_s > 1.0
        return not slept and all(_still_there(path, fd) for path, fd in self._mounted.items())

    def described(self) -> dict[str, Any]:
        """What whoever gets it must know beside its file descriptors."""
        return {"process": self._said, "builds": self.builds, "began_s": self.began_s}

    def fds(self) -> list[int]:
        """What it is handed over by."""
        return [*self.ends.fds(), self.control.fileno()]

    def let_go(self) -> None:
        """Give up our hold on it: if nobody else has it, that is its end."""
        for fd in self._mounted.values():
            os.close(fd)
        self._mounted.clear()
        self.control.close()
        self.ends.close()


def _still_there(path: str, fd: int) -> bool:
    """Whether the path still leads to what is open as ``fd``."""
    with contextlib.suppress(OSError):
        return os.path.samestat(Path(path).stat(), os.fstat(fd))
    return False


def _be_its_parent(
    kind: Kind, ends: Ends, theirs: PlayersEnds, control: socket.socket, builds: str
) -> NoReturn:
    """In the fork: start the player and stay until it may end. Never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # which the server ignores, and a parent must not
        fds = player_start.passed(ends, theirs)
        # Whatever else the server holds: other players must end although this process lives.
        _close_all_but({0, 1, 2, control.fileno(), theirs.output, *fds.values()})
        mounts = Mounts(**{name: tuple(map(Path, paths)) for name, paths in kind.mounts.items()})
        command = [*kind.command, *player_start.named(fds)]
        process = sandbox.start(
            command, mounts, kind.env, tuple(fds.values()), theirs.output, namespaces=kind.namespaces
        )
        for fd in (theirs.output, *fds.values()):  # or nobody would be told that the player has hung up
            os.close(fd)
        keep(process, control)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(builds, ignore_errors=True)
        os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    last = 2
    for fd in sorted(kept - {0, 1, 2}):
        os.closerange(last + 1, fd)
        last = fd
    os.closerange(last + 1, os.sysconf("SC_OPEN_MAX"))
