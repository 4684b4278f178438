"""Fragments of tensor cores whose sums do not begin with 0, and of which some numbers are left out."""

from __future__ import annotations

import pytest

from grader.domain.lessons import find
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOLUTION = find("13").solution.read_text("utf-8")
CLEARED = "        fill_fragment(high, 0.0f); fill_fragment(cross, 0.0f);\n"
ALL = "for (int i = 0; i < sum.num_elements; ++i) sum.x[i] += high.x[i] + cross.x[i] / 2048.0f;"
DECLARED = "fragment<accumulator, 16, 16, 16, float> sum, high, cross;"


def told(text: str) -> dict[str, object]:
    wrong = Finding("error", Status.WRONG_OUTPUT, "First wrong: element [0, 0] is 1, expected 2.")
    return attach.explained(wrong, text).evidence.get("explanation") or {}


@pytest.mark.parametrize(
    ("old", "new", "rule", "line", "word"),
    [
        (CLEARED, "", "fragment-never-begun", DECLARED, "high"),
        (CLEARED, CLEARED.replace("high", "cross"), "fragment-never-begun", DECLARED, "high"),
        (ALL, "sum.x[0] += high.x[0] + cross.x[0];", "fragment-one-number", "sum.x[0] +=", "num_elements"),
    ],
)
def test_it_is_named_with_its_line(old: str, new: str, rule: str, line: str, word: str) -> None:
    assert SOLUTION.count(old) == 1
    text = SOLUTION.replace(old, new)
    said = told(text)
    assert said.get("rule") == rule and word in str(said)
    assert line in text.splitlines()[int(str(said["line"])) - 1]


@pytest.mark.parametrize(
    "instead", [CLEARED, "        high = sum;\n        cross = sum;\n", "        auto& f = high;\n" + CLEARED]
)
def test_a_sum_that_is_begun_is_not_blamed(instead: str) -> None:
    assert "fragment" not in str(told(SOLUTION.replace(CLEARED, instead)).get("rule"))
