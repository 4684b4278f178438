"""The journal: one line of JSON for each finished grading, appended and on the disk before it counts.

A line is written after the verdict's own file, so whatever the journal names is there. A line that was being
written when the power went is no line, and its grading is done again.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.domain.errors import BadInputError

SCHEMA = "inline-to-fused/journal/v1"


class Journal:
    """The open journal of one batch; only one process may have it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise BadInputError(
                f"Another batch is writing to {path.parent}; wait for it, or end it."
            ) from error
        self._mend()

    def _mend(self) -> None:
        """Cut off what is left of a line that was never finished."""
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            os.ftruncate(self._fd, data.rfind(b"\n") + 1)

    def append(self, line: dict[str, Any]) -> None:
        """Add one line; when this returns it survives the death of everything but the disk."""
        data = json.dumps({"schema": SCHEMA, **line}, allow_nan=False).encode() + b"\n"
        while data:
            data = data[os.write(self._fd, data) :]
        os.fsync(self._fd)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """All whole lines, oldest first; what is no line of ours is passed over."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if isinstance(line, dict) and line.get("schema") == SCHEMA:
                yield line


def latest(path: Path) -> dict[str, dict[str, Any]]:
    """The last line of each key: a later grading of the same replaces an earlier one."""
    return {line["key"]: line for line in lines(path)}


@contextmanager
def opened(path: Path) -> Iterator[Journal]:
    """The journal, closed at the end."""
    journal = Journal(path)
    try:
        yield journal
    finally:
        journal.close()
