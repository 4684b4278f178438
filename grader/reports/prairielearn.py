"""PrairieLearn's ``results.json``; ``gradable: false`` costs the student no attempt."""

from __future__ import annotations

import json
from typing import Any

from grader.domain.verdict import Verdict
from grader.reports.row import Row
from grader.reports.words import said

MOST = 900_000  # bytes; the platform takes 1 MB


def text(row: Row, verdict: Verdict) -> str:
    """The file for one student: ``score`` is a share of 1, the tests carry the points."""
    tests = [
        {
            "name": finding.id, "description": str(finding.status), "points": finding.points,
            "max_points": finding.max_points, "message": said(finding), "output": "",
        }
        for finding in verdict.findings
    ]  # fmt: skip
    result: dict[str, Any] = {
        "gradable": row.state not in ("not_gradable", "refused"),
        "score": row.points / row.max_points if row.max_points else 0.0,
        "message": " ".join([f"{row.points} of {row.max_points} points.", *row.notes]),
        "output": verdict.output[:100_000],
        "tests": tests,
    }
    if row.state == "refused":
        result["format_errors"] = [row.first]
    if len(json.dumps(result)) > MOST:
        for test in tests:
            test["message"] = str(test["message"])[:2000]
        result["output"] = result["output"][:10_000]
    return json.dumps(result, indent=1)
