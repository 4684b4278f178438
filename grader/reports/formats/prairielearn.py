"""PrairieLearn's ``results.json``; ``gradable: false`` costs the student no attempt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback

if TYPE_CHECKING:
    from grader.reports.row import StudentResult

MOST_BYTES = 900_000  # the platform takes 1 MB


def text(result: StudentResult) -> str:
    """The file for one student: ``score`` is a share of 1, the tests carry the points."""
    row, verdict = result.row, result.verdict
    tests = [
        {
            "name": finding.id, "description": str(finding.status), "points": finding.points,
            "max_points": finding.max_points, "message": feedback(finding), "output": "",
        }
        for finding in verdict.findings
    ]  # fmt: skip
    data: dict[str, object] = {
        "gradable": row.grade is not None,
        "score": row.points / row.max_points if row.max_points else 0.0,
        "message": " ".join([row.standing, *row.remarks]),
        "output": verdict.output[:100_000],
        "tests": tests,
    }
    if row.state in ("refused", "unclear"):
        data["format_errors"] = [row.first]
    if len(json.dumps(data)) > MOST_BYTES:
        for test in tests:
            test["message"] = str(test["message"])[:2000]
        data["output"] = verdict.output[:10_000]
    return json.dumps(data, indent=1) + "\n"


FORMATS = (
    StudentFormat(
        name="prairielearn",
        file="prairielearn/results.json",
        help="PrairieLearn's results.json, for an external grader.",
        write=text,
    ),
)
