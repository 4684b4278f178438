"""A warm parent of players: it has imported torch and woken the back end, and forks a player in milliseconds.

Nothing of a submission ever runs in it, so each player starts from the same clean state. On the CPU back end
``course watch`` holds two, one for the submission's side and one for the reference's (see
:mod:`grader.referee.process.forkserver`). A CUDA context survives no fork: on a GPU players wait instead.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.player.player_backends import Forkable
    from grader.protocol.wire import Json

FDS = ("wire", "inbox", "outbox", "words")


def main() -> None:
    """Wake the back end, then fork a player for each request until the other side hangs up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", choices=["simt", "cpu"], required=True)
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--libraries", type=Path, nargs=2)
    options = parser.parse_args()
    gc.disable()
    control = socket.socket(fileno=options.control)
    from grader.player import player_backends

    waking = argparse.Namespace(backend=options.backend, words=-1, step_budget=0, libraries=options.libraries)
    backend = player_backends.wake_to_fork(waking)
    import numpy.random  # noqa: F401 - what every player needs, as below

    from grader.player import __main__, commands, exceptions, sides, stage  # noqa: F401
    from grader.protocol import play

    play.steps([])  # what msgspec works out about their classes
    backend.facts()
    gc.freeze()
    ForkParent(control, backend).run()
    os._exit(0)  # Python would take torch apart first, for which whoever hung up would wait


class ForkParent:
    """The loop: requests come in, ends of players are reported."""

    def __init__(self, control: socket.socket, backend: Forkable) -> None:
        self._control, self._backend = control, backend
        self._waiting = selectors.DefaultSelector()
        self._players: dict[int, int] = {}  # process id by its pidfd

    def run(self) -> None:
        """Until the other side hangs up; then all players are killed."""
        self._waiting.register(self._control, selectors.EVENT_READ)
        while True:
            for key, _ in self._waiting.select():
                if key.fileobj is not self._control:
                    self._ended(int(key.fd))
                    continue
                data, fds, _, _ = socket.recv_fds(self._control, 1 << 16, 8)
                if not data:
                    self._kill()
                    return
                self._handle(json.loads(data), fds)

    def _handle(self, request: Json, fds: list[int]) -> None:
        if request.get("kill"):
            self._kill()
            return
        if module := request.get("load"):
            with contextlib.suppress(Exception):  # a player that needs it meets the same, and says so
                importlib.import_module(module)
            gc.freeze()
            return
        pid = os.fork()
        if pid == 0:
            self._become_player(request, fds)
        for fd in fds:
            os.close(fd)
        watched = os.pidfd_open(pid)
        self._players[watched] = pid
        self._waiting.register(watched, selectors.EVENT_READ)
        self._control.send(json.dumps({"ask": request["ask"], "pid": pid}).encode())

    def _become_player(self, request: Json, fds: list[int]) -> None:
        """In the fork: a player like any other. Never returns."""
        code = 1
        try:
            os.setsid()
            self._waiting.close()
            self._control.close()
            *wires, output = fds
            for number in (1, 2):
                os.dup2(output, number)
            os.close(output)
            os.chdir(request["folder"])
            os.environ["TMPDIR"] = os.environ["HOME"] = tempfile.tempdir = request["folder"]
            os.environ.update(request["env"])
            from grader.player import __main__

            named = [text for name, fd in zip(FDS, wires, strict=True) for text in (f"--{name}", str(fd))]
            __main__.main([*request["arguments"], *named], self._backend)
            code = 0
        except SystemExit as done:
            code = done.code if isinstance(done.code, int) else 1
        finally:
            os._exit(code)

    def _ended(self, watched: int) -> None:
        self._waiting.unregister(watched)
        os.close(watched)
        pid = self._players.pop(watched)
        _, status = os.waitpid(pid, 0)
        self._control.send(json.dumps({"ended": pid, "code": os.waitstatus_to_exitcode(status)}).encode())

    def _kill(self) -> None:
        for pid in self._players.values():
            for kill in (os.killpg, os.kill):
                try:
                    kill(pid, signal.SIGKILL)
                except OSError:
                    continue


if __name__ == "__main__":
    main()
