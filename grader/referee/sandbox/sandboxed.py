"""A started player from outside: how to signal it, how it ended, and how to end all that it began."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

from grader.referee.sandbox import bubblewrap, process_tree, spawner

if TYPE_CHECKING:
    from grader.referee.sandbox.mounts import Mounts

INSIDE = "/tmp/player"  # noqa: S108 - of the player's own /tmp
START_TIMEOUT_S = 30.0  # for bwrap to set up a namespace, on a busy machine


class SandboxedProcess:
    """A process in a session of its own, which works everywhere. What is killed is its group and session."""

    name = "process group"

    def __init__(self, process: subprocess.Popen[bytes], folder: str) -> None:
        self.process, self._folder = process, folder

    def processes(self) -> list[process_tree.Process]:
        """The player and what it has started."""
        return process_tree.session_members(self.process.pid)

    def count(self) -> int:
        """How many processes these are, zombies included where that is quicker."""
        return len(self.processes())

    def signal(self, sign: signal.Signals) -> None:
        """Send a signal to the player itself."""
        with contextlib.suppress(OSError):
            self.process.send_signal(sign)

    def wait(self, seconds: float) -> None:
        """Give it time to end by itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def code(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self.process.poll()

    def kill(self) -> None:
        """Kill it and all that it started, without waiting; from any thread."""
        process_tree.kill_session(self.process.pid)

    def end(self) -> None:
        """Kill it and all that it started, and tidy up. May be called twice."""
        self.kill()
        self.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


class BubblewrapProcess(SandboxedProcess):
    """A process in namespaces of its own. When its first process is killed, the kernel kills all others."""

    name = "bubblewrap"

    def __init__(self, process: subprocess.Popen[bytes], status: int) -> None:
        super().__init__(process, "")
        self._status = status  # stays open: bwrap writes to it at the end, too
        self.first: int | None = None  # process 1 of the namespace, by its number outside
        self._first_fd = -1
        try:
            self.first = _child_pid(status)
            self._first_fd = os.pidfd_open(self.first)
        except (OSError, ValueError, KeyError):  # what cannot be watched must not run
            self.first = None
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)

    def processes(self) -> list[process_tree.Process]:
        """Everything in the namespace."""
        return process_tree.namespace_members(self.first) if self.first else []

    def count(self) -> int:
        """How many there are; this must be quick, for a fork bomb is."""
        return len(process_tree.namespace_paths(self.first)) if self.first else 0

    def signal(self, sign: signal.Signals) -> None:
        """To the player, which is the second process of its namespace; bwrap itself is the first."""
        player = process_tree.numbered(self.first, 2) if self.first else None
        if player:
            with contextlib.suppress(OSError):
                os.kill(player, sign)

    def code(self) -> int | None:
        """As bwrap reports it: 128 and more stands for a signal."""
        code = self.process.poll()
        return code if code is None or not 128 < code < 128 + signal.NSIG else 128 - code

    def kill(self) -> None:
        """Kill the namespace's first process; the kernel kills the others before it lets that one go."""
        if self._first_fd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._first_fd, signal.SIGKILL)

    def end(self) -> None:
        """Kill the namespace, and wait until its last process has gone. May be called twice."""
        self.kill()
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self._first_fd >= 0:
            select.select([self._first_fd], [], [], 10.0)
            for fd in (self._first_fd, self._status):
                os.close(fd)
            self._first_fd = -1


def start(
    command: list[str],
    mounts: Mounts,
    env: dict[str, str],
    fds: tuple[int, ...],
    output: int,
    *,
    namespaces: bool,
) -> SandboxedProcess:
    """Start a player, under bubblewrap if ``namespaces``.

    ``fds`` are passed on, ``output`` takes what it prints.
    """
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
    given |= {"start_new_session": True, "env": env}
    if not namespaces:
        folder = tempfile.mkdtemp(prefix="player-")
        # The one place that it may write to: compilers want it for temporary files, Triton for its cache.
        env |= {"TMPDIR": folder} | ({"HOME": folder} if mounts.read else {})
        return SandboxedProcess(subprocess.Popen(command, cwd=folder, pass_fds=fds, **given), folder)
    read_end, write_end = os.pipe()
    submitted = {path: os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in mounts.submitted}
    wrap = bubblewrap.command(mounts, write_end, submitted, INSIDE)
    env |= {"HOME": bubblewrap.HOME, "TMPDIR": "/tmp"}  # noqa: S108 - of the player's own /tmp
    try:
        process = spawner.popen(
            [*wrap, *command], cwd="/", pass_fds=(*fds, write_end, *submitted.values()), **given
        )
    finally:
        for fd in (write_end, *submitted.values()):
            os.close(fd)
    return BubblewrapProcess(process, read_end)


def _child_pid(status: int) -> int:
    """What bwrap says first on its status line: the number of the namespace's first process."""
    text = b""
    while b"}" not in text:
        ready, _, _ = select.select([status], [], [], START_TIMEOUT_S)
        part = os.read(status, 4096) if ready else b""
        if not part:
            raise ValueError("bwrap did not start")
        text += part
    return int(json.loads(text[: text.index(b"}") + 1])["child-pid"])
