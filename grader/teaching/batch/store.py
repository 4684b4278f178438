"""The folder of results: what is in it, and how each file gets there whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.domain.disk import slug
from grader.domain.errors import BadInputError
from grader.domain.verdict import Verdict
from grader.reports.row import is_line
from grader.teaching.batch import journal


@dataclass(frozen=True, slots=True)
class Store:
    """``journal.jsonl`` and ``verdicts/`` are the memory; all else can be written again from them.

    ``handed.json`` says who handed in what, ``class.json`` is the result of all, ``students/`` has a folder
    for each student and lesson, ``reports/`` one file a format.
    """

    root: Path

    @property
    def journal(self) -> Path:
        """One line a finished grading."""
        return self.root / "journal.jsonl"

    @property
    def handed(self) -> Path:
        """Who handed in what."""
        return self.root / "handed.json"

    @property
    def reports(self) -> Path:
        """One file a format."""
        return self.root / "reports"

    def verdict_path(self, key: str) -> Path:
        """The full verdict of a grading."""
        return self.root / "verdicts" / key[:2] / f"{key}.json"

    def keep(self, key: str, verdict: Verdict) -> None:
        """Write a verdict, on the disk before this returns: the journal's line may follow."""
        write(self.verdict_path(key), json.dumps(verdict.as_json(), allow_nan=False), sync=True)

    def verdict(self, key: str) -> Verdict:
        """A verdict that was kept; BadInputError if somebody has removed or changed it."""
        path = self.verdict_path(key)
        try:
            return Verdict.from_json(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInputError(
                f"The verdict {path} is missing or damaged; grade it again with --regrade all."
            ) from error

    def student(self, student: str, lesson: str) -> Path:
        """The folder of one student's results for one lesson."""
        return self.root / "students" / slug(student) / lesson

    def lines(self) -> Iterator[dict[str, Any]]:
        """The journal's lines, oldest first; one that somebody has bent out of shape is passed over."""
        return (line for line in journal.lines(self.journal) if is_line(line))


def write(path: Path, text: str, *, sync: bool = False) -> None:
    """Replace a file by this text, or leave it as it is; BadInputError on a full disk."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise BadInputError(f"{path} cannot be written: {error.strerror}.") from error
