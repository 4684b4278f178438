"""Fragments of tensor cores that are loaded, multiplied or added up in a wrong way: the line, and the cause."""

from __future__ import annotations

import pytest

from grader.domain.lessons import find
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOLUTION = find("13").solution.read_text("utf-8")
CLEARED = "        fill_fragment(high, 0.0f); fill_fragment(cross, 0.0f);\n"
ALL = "for (int i = 0; i < sum.num_elements; ++i) sum.x[i] += high.x[i] + cross.x[i] / 2048.0f;"
DECLARED = "fragment<accumulator, 16, 16, 16, float> sum, high, cross;"


LOW = (
    ("            load_matrix_sync(al, xl + row0 * inner + k, inner);\n", ""),
    ("            load_matrix_sync(bl, wl + col0 * inner + k, inner);\n", ""),
    ("            mma_sync(cross, ah, bl, cross);\n            mma_sync(cross, al, bh, cross);\n", ""),
    (" + cross.x[i] / 2048.0f", ""),
)
AT_FIRST = "    fill_fragment(sum, 0.0f);\n"
ONE_SUM = ((CLEARED, ""), (AT_FIRST, AT_FIRST + CLEARED))
LOAD = "load_matrix_sync(ah, xh + row0 * inner + k, inner);"


def told(text: str, got: float = 1.0, owner: int = 0) -> dict[str, object]:
    evidence: dict[str, object] = {"got": got, "expected": 2.0}
    if owner:
        evidence["owner"] = {"line": owner, "access": "store"}
    message = "First wrong: element [0, 0] is 1, expected 2."
    wrong = Finding("error", Status.WRONG_OUTPUT, message, 0, 1, evidence)
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


@pytest.mark.parametrize(
    ("edits", "rule", "line", "says"),
    [
        (LOW, "fragment-high-alone", "mma_sync(high, ah, bh, high);", "xl and wl"),
        ([(" / 2048.0f", "")], "fragment-not-scaled-back", "high.x[i] + cross.x[i];", "divides by 2048"),
        ([("half, col_major> bh", "half, row_major> bh")], "fragment-layout", "row_major> bh", "col_major"),
        ([(LOAD, LOAD.replace("k, inner", "k, 16"))], "fragment-rows-apart", "k, 16);", "Give `inner`"),
        (ONE_SUM, "fragment-one-long-sum", "mma_sync(high, ah, bh, high);", "towards zero"),
        ([(LOAD, f"if (threadIdx.x < 16) {LOAD}")], "fragment-some-lanes", "if (threadIdx.x < 16)", "all 32"),
    ],
)
def test_a_wrong_tile_or_sum_is_named_with_its_line(
    edits: list[tuple[str, str]], rule: str, line: str, says: str
) -> None:
    text = SOLUTION
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    said = told(text, got=2.00002)
    assert said.get("rule") == rule and says in str(said)
    assert line in text.splitlines()[int(str(said["line"])) - 1]


def test_a_right_kernel_has_no_wrong_tile() -> None:
    assert "fragment" not in str(told(SOLUTION, got=2.00002).get("rule"))


@pytest.mark.parametrize("guard", ["if (threadIdx.x < 32)", "if (warp == 0)", "if (k < inner)"])
def test_a_condition_of_whole_warps_is_not_blamed(guard: str) -> None:
    assert "fragment" not in str(told(SOLUTION.replace(LOAD, f"{guard} {LOAD}")).get("rule"))


def test_an_error_of_unknown_cause_points_to_the_tiles_and_says_its_size() -> None:
    at = 1 + SOLUTION[: SOLUTION.index("out[row * cols + col] =")].count("\n")
    said = str(told(SOLUTION, got=2.0006, owner=at)["cause"])
    for line in ("load_matrix_sync(ah", "mma_sync(high", "sum.x[i] +="):
        assert str(1 + SOLUTION[: SOLUTION.index(line)].count("\n")) in said
    assert "off by 3e-04 of its value, as products of half precision alone are" in said
    assert "half precision" not in str(told(SOLUTION, got=1.0, owner=at)["cause"])
