"""Gradescope's ``results.json``: a test for each check, and the score that counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback, waiting_for

if TYPE_CHECKING:
    from grader.reports.row import Row, StudentResult


def text(result: StudentResult) -> str:
    """The file for one student. Where a person has to look first it says so and has no score at all."""
    row, verdict = result.row, result.verdict
    fault = row.grade is None
    tests = [
        {
            "name": finding.id,
            "number": str(number),
            **({} if fault else {"score": finding.points, "max_score": finding.max_points}),
            **({} if fault else {"status": "passed" if finding.ok else "failed"}),
            "output": feedback(finding),
            "output_format": "text",
            "visibility": "visible",
        }
        for number, finding in enumerate(verdict.findings, 1)
    ]
    data: dict[str, object] = {
        **({} if fault else {"score": row.points}),
        "execution_time": round(verdict.seconds, 3),
        "output": "\n".join([_summary(row), *row.remarks]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {
            "lesson": row.lesson, "status": row.status, "open_points": row.open, "penalty": row.penalty,
            "backend": verdict.backend, "device": verdict.device,
        },
    }  # fmt: skip
    if row.speed and row.speed.kind == "measured":
        ratio = round(row.speed.whole_ratio, 3)
        data["leaderboard"] = [{"name": "times as fast as the framework", "value": ratio}]
    return json.dumps(data, indent=1) + "\n"


def _summary(row: Row) -> str:
    waiting = f" {row.open} more wait for {waiting_for(row.statuses)}." if row.open else ""
    return f"{row.status}: {row.standing}{waiting}" if row.state == "graded" else row.standing


FORMATS = (
    StudentFormat(
        name="gradescope",
        file="gradescope/results.json",
        help="Gradescope's results.json: a test for each check, and the score.",
        write=text,
    ),
)
