"""The referee's end of a warm parent of players (:mod:`grader.player.fork_parent`)."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from grader.domain.errors import BadInputError
from grader.referee.sandbox import launch_spec, process_tree
from grader.referee.sandbox.sandboxed import SandboxedProcess

START_TIMEOUT_S = 60.0
_making = threading.Lock()


class Forkserver:
    """A process that forks players of one back end: "simt" or "cpu"."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "grader.player.fork_parent", "--backend", backend]
        command += ["--control", str(theirs.fileno()), *launch_spec.libraries(backend)]
        self._process = subprocess.Popen(
            command, env=launch_spec.environment(backend), pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        assert self._process.stderr is not None
        self._stderr = self._process.stderr.fileno()
        # Several processes read this socket, one after another: whoever started a player is told of its end.
        self._gone = False
        self._lock = threading.Lock()
        self._asks = itertools.count(os.getpid() << 20)
        self._answers: dict[int, int] = {}
        self._codes: dict[int, int] = {}
        self._loaded = set[str]()

    def load(self, *modules: str) -> None:
        """Have it import modules of PyTorch, which every player that it forks from now on has as well."""
        for module in modules:
            if module not in self._loaded:
                self._loaded.add(module)
                with contextlib.suppress(OSError):  # it has ended, which the next player says
                    self._control.send(json.dumps({"load": module}).encode())

    def spawn(
        self, arguments: list[str], fds: tuple[int, ...], output: int, env: dict[str, str] | None = None
    ) -> ForkedProcess:
        """Fork a player with these command line arguments.

        ``fds`` are its file descriptors (see ``FDS`` there), ``output`` takes what it prints, ``env`` adds to
        its environment.
        """
        folder, ask = tempfile.mkdtemp(prefix="player-"), next(self._asks)
        request = {"ask": ask, "arguments": arguments, "folder": folder, "env": env or {}}
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], [*fds, output])
        except OSError:
            self._gone = True
        end = time.monotonic() + START_TIMEOUT_S
        while ask not in self._answers:
            self._pump(end - time.monotonic(), ask)
            if self._gone or time.monotonic() > end:
                reason = (
                    os.read(self._stderr, 1 << 12).decode(errors="replace")
                    if self._gone
                    else "It is too slow."
                )
                raise BadInputError(f"The back end did not start: {reason.strip()[-500:]}")
        return ForkedProcess(self, self._answers.pop(ask), folder)

    def kill_players(self) -> None:
        """End every player that it has forked and that still runs."""
        with contextlib.suppress(OSError):
            self._control.send(b'{"kill": true}')

    def code(self, pid: int) -> int | None:
        """How a player ended, negative for a signal; None while it runs."""
        self._pump(0.0)
        return self._codes.get(pid, -signal.SIGKILL if self._gone else None)

    def close(self) -> None:
        """End it and its players."""
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def _pump(self, seconds: float, ask: int | None = None) -> None:
        """Take its messages; wait up to ``seconds`` for the first one, unless ``ask`` is answered."""
        with self._lock:
            while ask not in self._answers:  # another thread may have taken the answer meanwhile
                try:
                    self._control.settimeout(max(seconds, 0.0))
                    data = self._control.recv(1 << 16)
                except OSError:
                    return
                if not data:
                    self._gone = True
                    return
                message = json.loads(data)
                if "pid" in message:
                    self._answers[message["ask"]] = message["pid"]
                if "ended" in message:
                    self._codes[message["ended"]] = message["code"]
                seconds = 0.0


def shared(backend: str) -> dict[str, Forkserver]:
    """Forkservers for all gradings of this process, by back end: for the course's own files, many in a row.

    The CPU back end must have been prepared.
    """
    return {kind: one(kind) for kind in {"simt": ("simt", "cpu"), "cpu": ("cpu",)}.get(backend, ())}


def one(backend: str) -> Forkserver:
    """The one of this back end that all who ask in this process share; it ends with the process."""
    with _making:
        return _made(backend)


@functools.cache
def _made(backend: str) -> Forkserver:
    made = Forkserver(backend)
    atexit.register(made.close)
    return made


class ForkedProcess(SandboxedProcess):
    """A player forked from a forkserver: a session of its own that confines itself (Landlock, seccomp)."""

    name = "warm process"

    def __init__(self, forkserver: Forkserver, pid: int, folder: str) -> None:
        self._forkserver = forkserver
        self._pid = pid
        self._folder = folder

    def processes(self) -> list[process_tree.Process]:
        """The player and what it has started."""
        return process_tree.session_members(self._pid)

    def signal(self, sign: signal.Signals) -> None:
        """Send a signal to the player itself."""
        if self.code() is None:
            with contextlib.suppress(OSError):
                os.kill(self._pid, sign)

    def wait(self, seconds: float) -> None:
        """Give it time to end by itself."""
        end = time.monotonic() + seconds
        while self.code() is None and time.monotonic() < end:
            time.sleep(0.005)

    def code(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._forkserver.code(self._pid)

    def kill(self) -> None:
        """Kill it and all that it started, without waiting; from any thread."""
        process_tree.kill_session(self._pid)

    def end(self) -> None:
        """Kill it and all that it started, and tidy up. May be called twice."""
        self.kill()
        self.wait(5.0)
        shutil.rmtree(self._folder, ignore_errors=True)
