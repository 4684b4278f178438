"""The process of a reference, kept from one grading to the next of the same lesson.

A reference is the course's own file, so nothing is lost by it; a submission's process is always a new one. On
a GPU it saves much: each process makes a context, and the driver makes one at a time, for all GPUs together.
"""

from __future__ import annotations

import atexit
import functools
import threading
from typing import TYPE_CHECKING

from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from grader.referee.process.player_process import Limits, Player


def key(backend: str, mode: str, limits: Limits, sees: tuple[Path, ...]) -> Hashable:
    """What a process must have been started with to be of use: a file that has changed is another one."""
    found = [(path, path.stat()) for path in sees]
    files = tuple((path, at.st_ino, at.st_mtime_ns, at.st_size) for path, at in found)
    return backend, mode, limits, files


class KeptReference:
    """At most one process that waits for the next grading of what its key says."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: tuple[Hashable, Player] | None = None

    def take(self, key: Hashable, make: Callable[[], Player]) -> Player:
        """The process that waits, or a new one if it has ended or waits for something else."""
        found = self._exchanged(None)
        if found and found[0] == key and found[1].runs:
            return found[1]
        if found:
            found[1].stop()
        return make()

    def give_back(self, key: Hashable, player: Player) -> None:
        """Keep it for the next grading, unless it has ended or cannot begin anew."""
        try:
            player.begin_anew()
        except FaultError:
            player.stop()
            return
        if before := self._exchanged((key, player)):
            before[1].stop()

    def close(self) -> None:
        """End what waits."""
        if found := self._exchanged(None):
            found[1].stop()

    def _exchanged(self, other: tuple[Hashable, Player] | None) -> tuple[Hashable, Player] | None:
        with self._lock:
            before, self._there = self._there, other
        return before


@functools.cache
def own() -> KeptReference:
    """That of this process, which ends with it."""
    kept = KeptReference()
    atexit.register(kept.close)
    return kept
