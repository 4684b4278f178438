"""Gradescope's ``results.json``: a test for each check, and the score that counts."""

from __future__ import annotations

import json
from typing import Any

from grader.domain.verdict import Verdict
from grader.reports.row import Row
from grader.reports.words import said


def text(row: Row, verdict: Verdict) -> str:
    """The file for one student. Without a verdict (``not_gradable``) it says so and gives no score away."""
    tests: list[dict[str, Any]] = [
        {
            "name": finding.id,
            "number": str(number),
            "score": finding.points,
            "max_score": finding.max_points,
            "status": "passed" if finding.ok else "failed",
            "output": said(finding),
            "output_format": "text",
            "visibility": "visible",
        }
        for number, finding in enumerate(verdict.findings, 1)
    ]
    result: dict[str, Any] = {
        "score": row.points,
        "execution_time": round(verdict.seconds, 3),
        "output": "\n".join([_summary(row), *row.notes]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {
            "lesson": row.lesson, "status": row.status, "open_points": row.open, "penalty": row.penalty,
            "backend": verdict.backend, "device": verdict.device,
        },
    }  # fmt: skip
    ratio = (row.speed or {}).get("whole_ratio")
    if ratio and (row.speed or {}).get("kind") == "measured":
        result["leaderboard"] = [{"name": "times as fast as the framework", "value": round(ratio, 3)}]
    return json.dumps(result, indent=1)


def _summary(row: Row) -> str:
    waiting = f" {row.open} more wait for a run on a GPU." if row.open else ""
    return f"{row.status}: {row.points} of {row.max_points} points.{waiting}"
