"""The class as CSV: one row a student and lesson, a column a check; and the form that Canvas imports."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from grader.reports.formats import ClassFormat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.reports.row import Class, Row

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
FIXED = (
    "student", "name", "email", "section", "lesson", "state", "status", "points", "max_points", "earned",
    "penalty", "adjusted", "grade", "open", "late_hours", "speed", "speed_kind", "seconds", "backend",
    "notes",
)  # fmt: skip


def text(result: Class) -> str:
    """Everything, for a spreadsheet: the points of each check, empty where a lesson does not have it."""
    names: dict[tuple[str, str], int] = {}
    for row in result.rows:
        for check in row.checks:
            if check.max_points:
                names.setdefault((row.lesson[:2], check.id), len(names))
    head = [*FIXED, *(f"{lesson} {check}" for lesson, check in names)]
    return as_csv([head, *(_line(row, names) for row in result.rows)])


def _line(row: Row, names: dict[tuple[str, str], int]) -> list[object]:
    speed = row.speed
    fixed: list[object] = [
        row.student, row.name, row.email, row.section, row.lesson, row.state, row.status,
        "" if row.shown is None else row.points,
        row.max_points, row.earned, row.penalty, row.adjusted,
        _grade(row), row.open, f"{row.late / 3600:.2f}" if row.late else "",
        f"{speed.whole_ratio:.3f}" if speed else "", speed.kind if speed else "", row.seconds, row.backend,
        " ".join(row.remarks),
    ]  # fmt: skip
    points: list[object] = [""] * len(names)
    for check in row.checks:
        if (place := names.get((row.lesson[:2], check.id))) is not None:
            points[place] = check.points
    return [*fixed, *points]


def _grade(row: Row) -> object:
    return "excused" if row.excused else "" if row.grade is None else row.grade


def canvas(result: Class) -> str:
    """What Canvas' gradebook imports: a column a lesson, a first line with the points possible.

    A student's points are empty, not 0, where the teacher has to look first; whoever is excused gets EX.
    """
    fixed = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    students: dict[str, dict[str, Row]] = {}
    for row in result.rows:
        students.setdefault(row.student, {})[row.lesson] = row
    lines: list[Iterable[object]] = [[*fixed, *(f"{x.name} {x.title}" for x in result.lessons)]]
    lines.append(["    Points Possible", "", "", "", "", *(x.max_points for x in result.lessons)])
    for student, rows in students.items():
        some = next(iter(rows.values()))
        ids = [_id(some.ids.get(kind, "")) for kind in ("canvas", "sis", "login")]
        if not any(ids):
            ids[1] = _id(student)
        grades = [_canvas_grade(rows.get(x.name)) for x in result.lessons]
        lines.append([some.name or student, *ids, some.section, *grades])
    return as_csv(lines)


def _canvas_grade(row: Row | None) -> object:
    if row is None or (row.grade is None and not row.excused):
        return ""
    return "EX" if row.excused else row.grade


class _Id(str):
    """An identifier: a platform compares it, so nothing may be put in front of it."""

    __slots__ = ()


def _id(text: str) -> str:
    """An identifier that no spreadsheet can compute with; any other text is made harmless like the rest."""
    return _Id(text) if re.fullmatch(r"[\w.@+-]+", text) else text


def files(result: Class) -> str:
    """What became of every file of the folder."""
    head = ("file", "student", "lesson", "what", "look")
    return as_csv(
        [head, *((f.file, f.student, f.lesson, f.what, "yes" if f.look else "") for f in result.files)]
    )


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """Lines as CSV, every text harmless in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    # Most cells of a whole term are empty.
    writer.writerows([cell and _harmless(cell) for cell in line] for line in lines)
    return out.getvalue()


def _harmless(cell: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if isinstance(cell, str):
        cell = (
            cell if isinstance(cell, _Id) else CONTROL.sub(" ", cell)
        )  # a line break within a cell is more than some readers can take
    if isinstance(cell, str) and not isinstance(cell, _Id) and cell[:1] in ("=", "+", "-", "@"):
        return f"'{cell}"
    return cell


FORMATS = (
    ClassFormat(
        name="csv",
        file="class.csv",
        help="Every row with its checks, for a spreadsheet.",
        write=text,
        always=True,
    ),
    ClassFormat(name="canvas", file="canvas.csv", help="What Canvas' gradebook imports.", write=canvas),
    ClassFormat(
        name="files",
        file="files.csv",
        help="What became of every file of the folder of submissions.",
        write=files,
        always=True,
    ),
)
