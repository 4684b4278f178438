"""A player that another process has started for us, from outside.

Its parent stays its parent: it alone learns of the end. Over a socket it hears which signals to send and says
how the player ended. When the socket is closed, by whoever holds it and for whatever reason, the parent ends
the player and all that it started; so none outlives the grading that it was handed to.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import threading
from typing import TYPE_CHECKING

from grader.referee.sandbox import process_tree
from grader.referee.sandbox.sandboxed import SandboxedProcess

if TYPE_CHECKING:
    from grader.protocol.wire import Json

END_TIMEOUT_S = 30.0  # for the parent to tidy up, on a busy machine


class HandedOver(SandboxedProcess):
    """What the parent said of it: ``name`` of the outermost layer, ``pid``, ``first`` process of a namespace.

    ``control`` is the socket to the parent.
    """

    def __init__(self, said: Json, control: socket.socket) -> None:
        self.name = str(said["name"])
        self._pid, self._first = int(said["pid"]), said.get("first")
        self._control = control
        self._lock = threading.Lock()
        self._code: int | None = None
        self._over = False

    def processes(self) -> list[process_tree.Process]:
        """The player and what it has started."""
        if self._first:
            return process_tree.namespace_members(self._first)
        return process_tree.session_members(self._pid)

    def count(self) -> int:
        """How many processes these are."""
        return len(process_tree.namespace_paths(self._first) if self._first else self.processes())

    def signal(self, sign: signal.Signals) -> None:
        """Have a signal sent to the player itself."""
        with contextlib.suppress(OSError):
            self._control.send(bytes([sign]))

    def wait(self, seconds: float) -> None:
        """Give it time to end by itself."""
        if self.code() is None:
            select.select([self._control], [], [], seconds)

    def code(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        with self._lock:
            if not self._over and select.select([self._control], [], [], 0)[0]:
                data = self._control.recv(1 << 10)
                self._over = True
                # A parent that has gone without a word was killed, and its player with it.
                self._code = int(json.loads(data)["code"]) if data else -signal.SIGKILL
            return self._code

    def kill(self) -> None:
        """Kill it and all that it started, without waiting; from any thread."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Kill it and all that it started, and wait until the last process has gone. May be called twice."""
        self.kill()
        with self._lock, contextlib.suppress(OSError):
            self._over = True
            self._control.settimeout(END_TIMEOUT_S)
            while self._control.recv(1 << 10):
                pass
        self._control.close()


def keep(process: SandboxedProcess, control: socket.socket) -> None:
    """The parent's part: pass signals on, say how it ended, and end all of it when nobody holds it."""
    said = {"name": process.name, "pid": process.process.pid, "first": getattr(process, "first", None)}
    ended = os.pidfd_open(process.process.pid)
    with contextlib.suppress(OSError):  # whoever is to be told may have gone
        control.send(json.dumps(said).encode())
        while True:
            fds = [control.fileno(), *([ended] if ended >= 0 else [])]
            ready = select.select(fds, [], [])[0]
            if ended in ready:
                process.process.wait()
                control.send(json.dumps({"code": process.code()}).encode())
                os.close(ended)
                ended = -1
            elif not (data := control.recv(1)):
                break
            else:
                process.signal(signal.Signals(data[0]))
    process.end()
