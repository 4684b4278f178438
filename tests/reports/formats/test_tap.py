"""TAP version 14, read by a parser written from its grammar."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grader.domain.verdict import PENDING, Finding, Status, Verdict
from grader.reports import formats

POINT = re.compile(r"(ok|not ok) (\d+) - ((?:[^\\#]|\\[\\#])*)(?: # (SKIP|TODO)\b ?(.*))?")


def written(*findings: Finding) -> str:
    return formats.single(Verdict("03_square_kernel", "x.py", "simt", "cpu", findings, 1.0), "tap")


def parsed(text: str) -> list[tuple[bool, str, bool, dict[str, object]]]:
    """(ok, description, skipped, its YAML) of each test point; the plan and the numbers are right."""
    version, plan, *lines = text.removesuffix("\n").split("\n")
    assert version == "TAP version 14"
    found, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("#"):
            point = POINT.fullmatch(lines[at])
            assert point and int(point[2]) == len(found) + 1, lines[at]
            assert lines[at + 1] == "  ---"
            end = lines.index("  ...", at)
            facts = yaml.safe_load("\n".join(lines[at + 2 : end]))
            found.append((point[1] == "ok", re.sub(r"\\(.)", r"\1", point[3]), point[4] == "SKIP", facts))
            at = end
        at += 1
    assert plan == f"1..{len(found)}"
    return found


def test_each_check_is_a_test_point() -> None:
    text = written(
        Finding("load", Status.PASSED, "", 2, 2),
        Finding("odd # sizes", Status.WRONG_OUTPUT, "Element 3.\nnot ok 9", 0, 3),
        Finding("ratio", Status.PENDING_GPU, "", 0, 4),
        Finding("order", Status.PENDING_CPU, "Not here.", 0, 1),
    )
    load, odd, ratio, order = parsed(text)
    assert load == (True, "load", False, {"status": "passed", "points": 2, "max_points": 2})
    assert odd[:3] == (False, "odd # sizes", False) and "Element 3.\nnot ok 9" in str(odd[3]["message"])
    assert ratio[:3] == (True, "ratio", True) and order[:3] == (True, "order", True)
    assert text.splitlines()[-1] == "# 2 of 10 points, wrong_output"


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8")), st.sampled_from(list(Status)), st.text()),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_no_text_breaks_the_protocol(cases: list[tuple[str, Status, str]]) -> None:
    findings = [Finding(name, status, message, 0, 1) for name, status, message in cases]
    quiet = PENDING | {Status.NOT_RUN}
    points = parsed(written(*findings))
    assert [p[0] for p in points] == [f.ok or f.status in quiet for f in findings]
    assert [p[2] for p in points] == [f.status in quiet for f in findings]
    assert [p[3]["status"] for p in points] == [f.status for f in findings]
