"""Exercism's test runner interface, version 3, with the points of each test beside it in its message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback, outcome

if TYPE_CHECKING:
    from grader.reports.row import StudentResult

MOST_OUTPUT, MOST_MESSAGE = 500, 65_535
NEVER_RAN = {
    Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.MISSING_ENTRY, Status.NOT_GRADABLE,
}  # fmt: skip


def text(result: StudentResult) -> str:
    """The file for one student. A file that could not be loaded is an ``error`` with the reason, as asked."""
    row, verdict = result.row, result.verdict
    load = verdict.findings[0]
    data: dict[str, object] = {"version": 3}
    if load.status in NEVER_RAN:
        data |= {"status": "error", "message": feedback(load)[:MOST_MESSAGE]}
    else:
        data["status"] = "pass" if verdict.ok else "fail"
    tests = [_test(f, number) for number, f in enumerate(verdict.findings, 1)]
    if row.by_hand and tests:
        tests[0]["output"] = "\n".join([*row.by_hand, str(tests[0]["output"])])[:MOST_OUTPUT]
    data["tests"] = tests
    data["points"], data["max_points"] = row.points, row.max_points
    return json.dumps(data, indent=1) + "\n"


def _test(finding: Finding, number: int) -> dict[str, str | int]:
    status = {"passed": "pass", "failed": "fail"}.get(outcome(finding.status), "error")
    test: dict[str, str | int] = {"name": finding.id, "status": status, "task_id": number}
    if status != "pass":
        test["message"] = feedback(finding)[:MOST_MESSAGE]
    test["output"] = f"{finding.points}/{finding.max_points} points"[:MOST_OUTPUT]
    return test


FORMATS = (
    StudentFormat(
        name="exercism",
        file="exercism/results.json",
        help="Exercism's test runner interface, version 3.",
        write=text,
        needs_grade=True,
    ),
)
