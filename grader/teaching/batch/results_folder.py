"""The folder of results: what is in it, and where."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.domain.errors import BadInputError
from grader.domain.verdict import Verdict
from grader.teaching.batch.journal import Line, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ResultsFolder:
    """``journal.jsonl`` and ``verdicts/`` are the memory; all else can be written again from them.

    ``handed.json`` says who handed in what, ``tries.json`` what their own logs claim, ``class.json`` is the
    result of all, ``students/`` has a folder for each student and lesson, ``reports/`` one file a format.
    """

    root: Path

    @property
    def journal(self) -> Path:
        """One line a finished grading."""
        return self.root / "journal.jsonl"

    @property
    def plan(self) -> Path:
        """Who handed in what."""
        return self.root / "handed.json"

    @property
    def reports(self) -> Path:
        """One file a format."""
        return self.root / "reports"

    @property
    def tries(self) -> Path:
        """What the students' own logs of tries say."""
        return self.root / "tries.json"

    def verdict_path(self, key: str) -> Path:
        """The full verdict of a grading."""
        return self.root / "verdicts" / key[:2] / f"{key}.json"

    def keep(self, key: str, verdict: Verdict) -> str:
        """Write a verdict, on the disk before this returns: the journal's line may follow. Its digest."""
        data = json.dumps(verdict.as_json(), allow_nan=False).encode()
        disk.write(self.verdict_path(key), data, sync=True)
        return _digest(data)

    def edited(self, line: Line) -> bool:
        """Whether the verdict of a line is no longer what was kept; a line of an older grader cannot tell."""
        try:
            return bool(line.digest) and _digest(self.verdict_path(line.key).read_bytes()) != line.digest
        except OSError:
            return True

    def verdict(self, key: str) -> Verdict:
        """A verdict that was kept; BadInputError if somebody has removed or changed it."""
        path = self.verdict_path(key)
        try:
            return Verdict.from_json(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise BadInputError(
                f"The verdict {path} is missing or damaged; grade it again with --regrade all."
            ) from error

    def student(self, student: str, lesson: str) -> Path:
        """The folder of one student's results for one lesson."""
        return self.root / "students" / disk.slug(student) / lesson

    def lines(self) -> Iterator[Line]:
        """The journal's lines, oldest first."""
        return lines(self.journal)
