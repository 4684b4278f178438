"""The journal: one line of JSON for each finished grading, appended and on the disk before it counts.

A line is written after the verdict's own file, so whatever the journal names is there. A line that was being
written when the power failed does not count, and its grading is done again.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from filelock import FileLock, Timeout

from grader.domain import typed_data
from grader.domain.errors import BadInputError
from grader.reports.row import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = "inline-to-fused/journal/v1"


class Line(Summary, frozen=True, kw_only=True):
    """One finished grading.

    ``key`` names it, and ``subject`` what was graded, whatever the machine. ``disagrees``: checks that a
    later run on a GPU judged otherwise. ``tries`` it took on the ``worker``; ``finished`` in UTC. ``digest``:
    of the verdict's file as it was kept.
    """

    key: str
    subject: str
    lesson: str = ""
    disagrees: tuple[str, ...] = ()
    worker: str = ""
    tries: int = 1
    finished: str = ""
    digest: str = ""

    def text(self) -> str:
        """As it stands in the file, without its end; ValueError for a number that JSON does not have."""
        return json.dumps({"schema": SCHEMA, **msgspec.to_builtins(self)}, allow_nan=False)


class _Named(msgspec.Struct):
    """What a line says that it is; its other fields are passed over unread."""

    schema: str = ""


class Journal:
    """The open journal of one batch; only one process may have it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        # Beside the journal: a lock's file may be removed. Threads share it, and it goes with the process.
        self._lock = FileLock(path.with_suffix(".lock"), thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise BadInputError(
                f"Another batch is writing to {path.parent}; wait for it, or end it."
            ) from error
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._drop_unfinished()

    def _drop_unfinished(self) -> None:
        """Cut off what is left of a line that was never finished."""
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            os.ftruncate(self._fd, data.rfind(b"\n") + 1)

    def append(self, line: Line) -> None:
        """Add one line; when this returns it survives the death of everything but the disk."""
        data = line.text().encode() + b"\n"
        while data:
            data = data[os.write(self._fd, data) :]
        os.fsync(self._fd)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)
        self._lock.release()


def lines(path: Path) -> Iterator[Line]:
    """All whole lines, oldest first; one that is not ours, or that somebody has changed, is passed over."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            try:
                if typed_data.decode(raw, _Named).schema == SCHEMA:
                    yield typed_data.decode(raw, Line)
            except ValueError:
                continue


@contextmanager
def opened(path: Path) -> Iterator[Journal]:
    """The journal, closed at the end."""
    journal = Journal(path)
    try:
        yield journal
    finally:
        journal.close()
