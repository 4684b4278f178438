"""Classroom 50's ``result.json`` (``classroom50/result/v1``), the successor of GitHub Classroom."""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING

from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.reports.row import StudentResult

STAMP = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})T(\d{2})[:-]?(\d{2})[:-]?(\d{2})Z")


def text(result: StudentResult, env: Mapping[str, str] = os.environ) -> str:
    """The file for one student. Its runner says in the environment whose it is; else the row does."""
    row, verdict = result.row, result.verdict
    tests = [
        {
            "test-name": finding.id, "passed": finding.ok, "score": finding.points,
            "max-score": finding.max_points, "output": feedback(finding),
        }
        for finding in verdict.findings
    ]  # fmt: skip
    if row.remarks and tests:
        tests[0]["output"] = "\n".join([*row.remarks, str(tests[0]["output"])])
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    tag = env.get("SUBMISSION_TAG") or f"submit/{now}"
    commit = env.get("COMMIT_URL") or "none"
    data = {
        "schema": "classroom50/result/v1",
        "classroom": env.get("CLASSROOM") or "inline-to-fused",
        "assignment": env.get("ASSIGNMENT") or row.lesson,
        "assignment_type": env.get("ASSIGNMENT_TYPE") or "individual",
        "owner": env.get("OWNER") or env.get("USERNAME") or row.student,
        "submission": tag,
        "commit": commit,
        "release": env.get("RELEASE_URL") or "none",
        "review": env.get("REVIEW_URL") or commit,
        "datetime": env.get("SUBMISSION_TIME") or _moment(tag) or now,
        "graded_at": now,
        "score": row.points,
        "max-score": row.max_points,
        "tests": tests,
    }
    return json.dumps(data, indent=1) + "\n"


def _moment(tag: str) -> str:
    """The submission's time as its tag has it, or ""."""
    found = STAMP.search(tag)
    return "{}-{}-{}T{}:{}:{}Z".format(*found.groups()) if found else ""


FORMATS = (
    StudentFormat(
        name="classroom50",
        file="classroom50/result.json",
        help="Classroom 50's result.json (classroom50/result/v1).",
        write=text,
        needs_grade=True,
    ),
)
