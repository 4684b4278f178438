"""Exercism's test runner interface, version 3, with the points of each test beside it in its message."""

from __future__ import annotations

import json
from typing import Any

from grader.domain.verdict import Finding, Status, Verdict
from grader.reports.row import Row
from grader.reports.words import outcome, said

MOST_OUTPUT, MOST_MESSAGE = 500, 65_535
NEVER_RAN = {
    Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.MISSING_ENTRY, Status.NOT_GRADABLE,
}  # fmt: skip


def text(row: Row, verdict: Verdict) -> str:
    """The file for one student. A file that could not be loaded is an ``error`` with the reason, as asked."""
    load = verdict.findings[0]
    result: dict[str, Any] = {"version": 3}
    if load.status in NEVER_RAN:
        result |= {"status": "error", "message": said(load)[:MOST_MESSAGE]}
    else:
        result["status"] = "pass" if verdict.ok else "fail"
    result["tests"] = [_test(f, number) for number, f in enumerate(verdict.findings, 1)]
    result["points"], result["max_points"] = row.points, row.max_points
    return json.dumps(result, indent=1)


def _test(finding: Finding, number: int) -> dict[str, Any]:
    status = {"passed": "pass", "failed": "fail"}.get(outcome(finding.status), "error")
    test: dict[str, Any] = {"name": finding.id, "status": status, "task_id": number}
    if status != "pass":
        test["message"] = said(finding)[:MOST_MESSAGE]
    test["output"] = f"{finding.points}/{finding.max_points} points"[:MOST_OUTPUT]
    return test
