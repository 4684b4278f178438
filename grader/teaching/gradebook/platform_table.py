"""A platform's own table with the grades filled in; every other cell stays as it was."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch import moodle_headings, roster, tables
from grader.teaching.batch.student_files import StudentFile

if TYPE_CHECKING:
    from pathlib import Path

    from grader.reports.row import Class, LessonFacts, Row
    from grader.teaching.batch.tables import Table

CANVAS, MOODLE = ("student", "id", "section"), ("identifier", "grade", "last modified (grade)")


@dataclass(frozen=True, slots=True)
class Filled:
    """The table as text. ``grades`` were written; ``without``: rows that have no grade yet, or no line."""

    text: str
    platform: str
    column: str
    grades: int
    without: tuple[str, ...]


def fill(path: Path, result: Class, lesson: LessonFacts, column: str = "") -> Filled:
    """Fill in one lesson. BadInputError when the file is of no platform, or its column cannot be told.

    ``column``: the name of Canvas' column, where the lesson's name does not tell it.
    """
    table = tables.read(path, "The gradebook")
    head = moodle_headings.english(table.head)
    people = [roster.person(line) for line in tables.folded(table)]
    number = {id(person): k for k, person in enumerate(people)}
    index = roster.Index([person for person in people if person.id])
    rows: dict[int, Row] = {}
    without: list[str] = []
    for row in (r for r in result.rows if r.lesson == lesson.name):
        who = index.find(StudentFile(row.student, row.lesson, None, row.name, row.email, ids=row.ids))
        if who is None:
            without.append(f"{row.student} has no line in {path.name}")
        elif row.grade is None and not row.excused:
            without.append(f"{row.student}: {row.state.replace('_', ' ')}, no grade yet")
        else:
            rows[number[id(who)]] = row
    if set(CANVAS) <= set(head):
        platform, at = "canvas", _canvas_column(table, lesson, column, path)
        for k, row in rows.items():
            _put(table, k, at, "EX" if row.excused else str(row.points))
    elif set(MOODLE) <= set(head):
        platform, at = "moodle", head.index("grade")
        _moodle(table, head, rows, at, path)
        left = [row.student for row in rows.values() if row.excused]
        without += [f"{student}: excused, so no grade is written" for student in left]
    else:
        raise BadInputError(
            f"{path} is neither Canvas' gradebook (columns Student, ID, Section) nor Moodle's grading "
            "worksheet (Identifier, Grade, Last modified (grade)). Moodle's is read in English, German, "
            "French and Spanish: choose one of these languages there, and download it again."
        )
    written = sum(platform == "canvas" or not row.excused for row in rows.values())
    return Filled(_text(table), platform, table.head[at], written, tuple(without))


def _canvas_column(table: Table, lesson: LessonFacts, column: str, path: Path) -> int:
    """The assignment's column: as named, else the only one that speaks of the lesson."""
    names = [re.sub(r" \(\d+\)$", "", name).strip() for name in table.head]
    own = {k: name for k, name in enumerate(table.head) if re.search(r" \(\d+\)$", name)}
    if column:
        found = [k for k, name in enumerate(table.head) if column in (name, names[k])]
    else:
        words = (lesson.name.lower(), lesson.title.lower())
        number = re.compile(rf"\b0*{int(lesson.name[:2])}\b")
        found = [k for k in own if any(word in names[k].lower() for word in words)]
        found = found or [k for k in own if number.search(names[k])]
    if len(found) != 1:
        raise BadInputError(
            f"{path}: which column is lesson {lesson.name[:2]}? Name it with --column: "
            f"{', '.join(own.values())}."
        )
    return found[0]


def _moodle(table: Table, head: list[str], rows: dict[int, Row], at: int, path: Path) -> None:
    """Grade and feedback. Moodle passes over a grade above the maximum without a word, so it is told here."""
    comment = head.index("feedback comments") if "feedback comments" in head else -1
    most = head.index("maximum grade") if "maximum grade" in head else -1
    for k, row in rows.items():
        limit = table.lines[k][most].replace(",", ".") if most >= 0 else ""
        if re.fullmatch(r"\d+(\.\d+)?", limit) and float(limit) < row.max_points:
            raise BadInputError(
                f"{path}: Moodle's maximum grade is {limit}, but lesson {row.lesson[:2]} has "
                f"{row.max_points} points; set the assignment's maximum grade to that."
            )
        if limit and row.points > float(limit):
            raise BadInputError(
                f"{path}: {row.student} has {row.points} points, and Moodle passes over a grade above its "
                f"maximum of {limit}; set the assignment's maximum grade to {row.points}, or correct "
                "overrides.csv."
            )
        if not row.excused:
            _put(table, k, at, f"{row.points:.2f}")
        if comment >= 0:
            _put(table, k, comment, comments(row))


def comments(row: Row) -> str:
    """A student's feedback in a line: points, the first failure, and what the teacher has said."""
    first = "" if row.passed else row.first
    said = [row.standing, first if row.state == "graded" else "", *row.by_hand, *row.notes]
    return " ".join(re.sub(r"\s+", " ", word) for word in said if word)


def _put(table: Table, line: int, column: int, text: str) -> None:
    cells = table.lines[line]
    cells += [""] * (column + 1 - len(cells))
    cells[column] = text


def _text(table: Table) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([table.head, *table.lines])
    return out.getvalue()
