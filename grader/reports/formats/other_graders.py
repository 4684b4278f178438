"""Grades as other tools write and read them: nbgrader, otter-grader, PrairieLearn, LTI."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.reports.formats import ClassFormat
from grader.reports.formats.class_table import as_csv

if TYPE_CHECKING:
    from grader.reports.row import Class, Row

# As nbgrader's exporter (``nbgrader export``) names its columns.
NBGRADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip
OTTER_POINTS = "points-per-question"  # as otter's ``grade`` names its first line


def nbgrader(result: Class) -> str:
    """The table of ``nbgrader export``; without a score where the teacher has to look first."""
    lines = []
    for row in result.rows:
        last, first = _names(row.name)
        earned = "" if row.grade is None else row.earned
        lines.append(
            [row.lesson, "", result.created, row.student, last, first, row.email, earned, row.penalty,
             "" if row.grade is None else row.grade, row.max_points]
        )  # fmt: skip
    return as_csv([NBGRADER, *lines])


def _names(name: str) -> tuple[str, str]:
    """Last and first name: "Doe, Jane" and "Jane Doe" alike."""
    if "," in name:
        last, _, first = name.partition(",")
    else:
        first, _, last = name.rpartition(" ")
    return last.strip(), first.strip()


def otter(result: Class) -> str:
    """The table ``final_grades.csv`` that ``otter grade`` writes: a column a check, the points first.

    Where the teacher has to look first there is no total, and the status says why.
    """
    possible: dict[str, int] = {}
    students: dict[str, list[Row]] = {}
    for row in result.rows:
        students.setdefault(row.student, []).append(row)
        for check in row.checks:
            name = f"{row.lesson[:2]} {check.id}"
            if check.max_points and row.state == "graded":
                possible[name] = max(check.max_points, possible.get(name, 0))
    names, most = sorted(possible), sum(lesson.max_points for lesson in result.lessons)
    lines = [[OTTER_POINTS, *(possible[name] for name in names), most, 1, ""]]
    for student in sorted(students):
        rows = students[student]
        points = {f"{r.lesson[:2]} {c.id}": c.points for r in rows if r.state == "graded" for c in r.checks}
        look = [f"{r.lesson[:2]} {'excused' if r.excused else r.state}" for r in rows if r.grade is None]
        total = "" if look else sum(r.points for r in rows)
        share = "" if look or not most else round(sum(r.points for r in rows) / most, 4)
        status = f"No total: {', '.join(look)}" if look else "Completed"
        lines.append([student, *(points.get(name, "") for name in names), total, share, status])
    return as_csv([("file", *names, "total_points_earned", "percent_correct", "grading_status"), *lines])


def prairielearn(result: Class) -> str:
    """What PrairieLearn's *Upload new scores* takes: a student's address, and the score in per cent."""
    lines = [
        [row.email or row.student, 1, f"{100 * row.grade / row.max_points:.4f}".rstrip("0").rstrip(".")]
        for row in result.rows
        if row.grade is not None and row.max_points
    ]
    return as_csv([("uid", "instance", "score_perc"), *lines])


def lti(result: Class) -> str:
    """Scores of LTI Assignment and Grade Services 2.0, a list a lesson: each is the body of one request.

    Where the teacher has to look first there is no score, and the progress says that a person is needed.
    """
    found = {
        x.name: [_score(row, result.created) for row in result.rows if row.lesson == x.name]
        for x in result.lessons
    }
    return json.dumps(found, indent=1) + "\n"


def _score(row: Row, created: str) -> dict[str, object]:
    settled = row.grade is not None
    given = {"scoreGiven": row.grade, "scoreMaximum": row.max_points} if settled else {}
    return {
        "userId": row.ids.get("lti") or row.student,
        "timestamp": created.replace("Z", ".000Z"),
        "activityProgress": "Initialized" if row.state == "missing" else "Submitted",
        "gradingProgress": "FullyGraded" if settled else "PendingManual",
        "comment": " ".join([row.standing, *row.remarks]) if settled else row.first,
        **given,
    }


FORMATS = (
    ClassFormat(name="nbgrader", file="nbgrader.csv", help="The table of nbgrader export.", write=nbgrader),
    ClassFormat(
        name="otter", file="final_grades.csv", help="The table that otter grade writes.", write=otter
    ),
    ClassFormat(
        name="prairielearn",
        file="prairielearn.csv",
        help="Scores for PrairieLearn's upload of an assessment's scores.",
        write=prairielearn,
    ),
    ClassFormat(
        name="lti",
        file="lti-scores.json",
        help="Scores of LTI Assignment and Grade Services 2.0, the body of a request each.",
        write=lti,
    ),
)
