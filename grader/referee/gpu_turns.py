"""Gradings that share a GPU: several judge at a time, and a race has it for itself.

What another grading computes meanwhile makes the times of a race uneven, and uneven times hide much. So
each grading holds a lock with the others while it judges, and alone while it races. It gives the lock up
where it only waits, for a start or for a tool: else a race would wait with it. Only gradings of one user
know of each other; what else runs on the GPU is seen by the race itself, or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import threading
import time
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.referee.process.pool_client import runtime_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_S = 0.05
TOLD_S = 1.0  # of waiting, before it is said


class GpuTurns:
    """Turns on the GPU that this process sees first.

    Without a private folder, or locks in it, there are none. ``say`` is told when one waits.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._open = threading.Lock()  # while a file's number is used it is not closed
        self._gate = self._lock = -1
        self._shares = False
        with contextlib.suppress(OSError):
            seen = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
            seen = str(detect.gpu_minors().get(seen, seen))  # by a number or by its UUID, it is one GPU
            place = runtime_folder() / f"gpu-{re.sub(r'[^A-Za-z0-9-]', '_', seen)}"
            self._gate, self._lock = (
                os.open(place.with_suffix(end), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                for end in (".gate", ".lock")
            )

    def share(self) -> None:
        """Until :meth:`leave` no other grading races; others may judge as well. May be called twice."""
        if self._shares:
            return
        waits = "This grading waits: another one races on this GPU."
        self._take(self._gate, fcntl.LOCK_SH, waits)  # held by a race that waits, so that its turn comes
        self._take(self._lock, fcntl.LOCK_SH, waits)
        self._give(self._gate)
        self._shares = True

    def leave(self) -> None:
        """Others may race. May be called twice, and by who never shared."""
        if self._shares:
            self._give(self._lock)
        self._shares = False

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While this lasts no other grading judges or races. Whoever shared before shares no longer."""
        self.leave()
        self._take(self._gate, fcntl.LOCK_EX)
        self._take(self._lock, fcntl.LOCK_EX, "The race waits: another grading uses this GPU.")
        self._give(self._gate)
        try:
            yield
        finally:
            self._give(self._lock)

    def close(self) -> None:
        """Give up both files. May be called twice."""
        with self._open:
            for fd in {self._gate, self._lock} - {-1}:
                os.close(fd)
            self._gate = self._lock = -1

    def _take(self, fd: int, kind: int, words: str = "") -> None:
        told_s = time.monotonic() + TOLD_S
        while not self._tried(fd, kind):
            if words and time.monotonic() > told_s:
                self._say(words)
                words = ""
            time.sleep(LOOK_S)

    def _give(self, fd: int) -> None:
        self._tried(fd, fcntl.LOCK_UN)

    def _tried(self, fd: int, kind: int) -> bool:
        """Whether there is nothing to wait for; once files are given up, their numbers are other files'."""
        with self._open:
            if fd < 0 or fd not in (self._gate, self._lock):
                return True
            try:
                fcntl.flock(fd, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError:  # this file system has no locks
                return True
            return True


@contextlib.contextmanager
def alone(say: Callable[[str], None]) -> Iterator[None]:
    """While this lasts no other grading uses the GPU."""
    turns = GpuTurns(say)
    try:
        with turns.alone():
            yield
    finally:
        turns.close()
