"""The Test Anything Protocol, version 14 (testanything.org): one line a check, for any TAP consumer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from grader.reports.formats import StudentFormat
from grader.reports.wording import feedback, outcome

if TYPE_CHECKING:
    from grader.domain.verdict import Finding
    from grader.reports.row import StudentResult


def text(result: StudentResult) -> str:
    """The plan, a test point for each check with its points as YAML, and the points that count.

    A check that waits for another machine or was not run is skipped, as TAP has it.
    """
    row, findings = result.row, result.verdict.findings
    lines = ["TAP version 14", f"1..{len(findings)}"]
    for number, finding in enumerate(findings, 1):
        lines += _test_point(number, finding)
    lines += [f"# {_flat(said)}" for said in row.by_hand]
    count = f"{row.points} of {row.max_points} points, {row.status}"
    lines.append(f"# {_flat(row.standing) if row.shown is None else count}")
    return "\n".join(lines) + "\n"


def _test_point(number: int, finding: Finding) -> list[str]:
    kind = outcome(finding.status)
    ok = "ok" if kind in ("passed", "pending") else "not ok"
    line = f"{ok} {number} - {_description(finding.id)}"
    if kind == "pending":
        line += f" # SKIP {_flat(feedback(finding)).replace('#', ' ')}".rstrip()
    facts = {"status": str(finding.status), "points": finding.points, "max_points": finding.max_points}
    more = {"message": feedback(finding)} if kind in ("failed", "error") else {}
    # A JSON value is a YAML value, whatever is in the text.
    pairs = [f"  {name}: {json.dumps(value)}" for name, value in {**facts, **more}.items()]
    return [line, "  ---", *pairs, "  ..."]


def _description(name: str) -> str:
    r"""``#`` begins a directive, so that it and the backslash are escaped."""
    return re.sub(r"([\\#])", r"\\\1", _flat(name))


def _flat(text: str) -> str:
    """Text of one line without control characters."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()


FORMATS = (
    StudentFormat(
        name="tap", file="results.tap", help="Test Anything Protocol 14, for CI systems.", write=text
    ),
)
