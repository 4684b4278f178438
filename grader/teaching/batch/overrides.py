"""``overrides.csv``: what a teacher decides by hand, with an author and a reason, beside what was graded."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch import tables

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.reports.row import Row

NAME = "overrides.csv"
COLUMNS = ("student", "lesson", "check", "points", "excuse", "comment", "extension", "author", "reason")
YES, NO = {"yes", "y", "true", "1", "x"}, {"", "no", "n", "false", "0"}
SPAN = re.compile(r"\+(\d+(?:\.\d+)?)\s*(d|h|min)")
UNITS = {"d": 86_400.0, "h": 3600.0, "min": 60.0}


@dataclass(frozen=True, slots=True)
class Override:
    """One line. ``points`` is as it was written: "18", "+2" or "-1"; ``lesson`` "" is every lesson.

    ``until``: an extension's Unix time, or ``more_s`` seconds after the due time.
    """

    line: int
    student: str
    lesson: str = ""
    check: str = ""
    points: str = ""
    excuse: bool = False
    comment: str = ""
    until: float | None = None
    more_s: float = 0.0
    author: str = ""
    reason: str = ""

    def changed(self, points: int) -> int:
        """What this line makes of so many points; never less than 0."""
        if not self.points:
            return points
        value = int(self.points)
        return max(0, points + value if self.points[0] in "+-" else value)

    @property
    def signed(self) -> str:
        """Author and reason, as the end of a sentence."""
        return f"by {self.author}: {self.reason.rstrip('.')}."


@dataclass(frozen=True, slots=True)
class Overrides:
    """All lines, by student."""

    by_student: dict[str, tuple[Override, ...]] = field(default_factory=dict)

    def about(self, student: str, lesson: str) -> tuple[Override, ...]:
        """The lines for one row, in their order."""
        return tuple(one for one in self.by_student.get(student, ()) if one.lesson in ("", lesson))

    def require_known(self, rows: Iterable[tuple[str, str]], path: Path) -> None:
        """BadInputError for a line about a student or lesson that is not among these (student, lesson)."""
        students, lessons = set[str](), set[str]()
        for student, lesson in rows:
            students.add(student)
            lessons.add(lesson)
        for line in sorted((x for each in self.by_student.values() for x in each), key=lambda x: x.line):
            if line.student not in students:
                raise BadInputError(f"{path}, line {line.line}: there is no student {line.student!r}.")
            if line.lesson and line.lesson not in lessons:
                raise BadInputError(f"{path}, line {line.line}: lesson {line.lesson!r} is not graded here.")

    def doubts(self, rows: Iterable[Row]) -> list[str]:
        """What the teacher may not have meant, a sentence each: no such check, or points above the most."""
        said = dict[str, None]()
        for row in rows:
            most = {check.id: check.max_points for check in row.checks}
            for one in (x for x in self.about(row.student, row.lesson) if x.points):
                where = f"{NAME}, line {one.line}: {row.student}, lesson {row.lesson[:2]}"
                if one.check and one.check not in most:
                    why = f"its checks are {', '.join(most)}" if row.key else "nothing of it was graded"
                    said[f"{where}, has no check {one.check!r}, so the line changes nothing; {why}."] = None
                elif (limit := most[one.check] if one.check else row.max_points) < _given(one, row):
                    what = f"check {one.check!r}" if one.check else "the lesson"
                    said[
                        f"{where}, is given {_given(one, row)} points of the {limit} that {what} has. They "
                        "count, as a bonus; if that is not meant, correct the line."
                    ] = None
        return list(said)

    def above(self, most: dict[str, int]) -> list[str]:
        """Lines that give more points than a lesson has, told before anything is graded."""
        lines = (one for each in self.by_student.values() for one in each)
        return [
            f"{NAME}, line {one.line}: {one.student} is given {one.points} points, and lesson {name[:2]} has "
            f"{limit}. They count, as a bonus; if that is not meant, correct the line."
            for one in lines
            if one.points.isdigit() and not one.check
            for name, limit in most.items()
            if one.lesson in ("", name) and int(one.points) > limit
        ]


def _given(one: Override, row: Row) -> int:
    """The points of the row or of the check after the teacher's word."""
    return next((check.points for check in row.checks if check.id == one.check), row.points)


def read(path: Path, lessons: Iterable[str]) -> Overrides:
    """The lines of the file, none if there is no file; BadInputError for a line that cannot be followed."""
    if not path.exists():
        return Overrides()
    known = list(lessons)
    found: dict[str, list[Override]] = {}
    table = tables.read(path, "The file of overrides")
    if unknown := [name for name in table.head if name.strip().lower() not in COLUMNS]:
        raise BadInputError(f"{path} has a column {unknown[0]!r}; the columns are {', '.join(COLUMNS)}.")
    for number, cells in enumerate(tables.folded(table), 2):
        if any(cells.values()):
            one = _line(number, cells, known, path)
            found.setdefault(one.student, []).append(one)
    return Overrides({student: tuple(lines) for student, lines in found.items()})


def _line(number: int, cells: dict[str, str], lessons: list[str], path: Path) -> Override:
    where = f"{path}, line {number}"
    word = cells.get("lesson", "")
    lesson = next((x for x in lessons if word in (x, x[:2], str(int(x[:2])))), word)
    points, excuse = cells.get("points", ""), cells.get("excuse", "").lower()
    if points and not re.fullmatch(r"[+-]?\d{1,6}", points):
        raise BadInputError(f"{where}: points {points!r} is no whole number; write 18, +2 or -1.")
    if excuse not in YES | NO:
        raise BadInputError(f"{where}: excuse {excuse!r} is neither yes nor no.")
    until, more = _extension(cells.get("extension", ""), where)
    made = Override(
        number, cells.get("student", ""), lesson, cells.get("check", ""), points, excuse in YES,
        cells.get("comment", ""), until, more, cells.get("author", ""), cells.get("reason", ""),
    )  # fmt: skip
    if not made.student:
        raise BadInputError(f"{where}: it names no student.")
    if (made.points or made.excuse) and not (made.author and made.reason):
        raise BadInputError(f"{where}: points and excuses need an author and a reason; reports show them.")
    return made


def _extension(text: str, where: str) -> tuple[float | None, float]:
    if not text:
        return None, 0.0
    if found := SPAN.fullmatch(text):
        return None, float(found[1]) * UNITS[found[2]]
    try:
        moment = datetime.fromisoformat(text).timestamp()
    except ValueError as error:
        raise BadInputError(
            f"{where}: extension {text!r} is no time; write 2026-11-25T23:59, +2d, +12h or +30min."
        ) from error
    return (moment, 0.0) if math.isfinite(moment) else (None, 0.0)
