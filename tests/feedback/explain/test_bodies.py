"""Row and column made with one length of a row, and indices made with another."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''source = r"""
__global__ void transpose_kernel(const float* x, float* out, int rows, int n) {
    const int row = me() / rows, col = me() % rows;
    if (row < rows) out[col * rows + row] = x[row * n + col];
}
"""
'''


def told(source: str) -> dict[str, Any]:
    finding = Finding("transpose", Status.UNINITIALISED, "45 of 126 elements were never written")
    return attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "cause": ""}


@pytest.mark.parametrize(
    ("old", "new", "fix"),
    [
        ("rows,", "rows,", "`row = me() / n, col = me() % n`"),
        ("= me() / rows, col = me() % rows;", "= i / rows;\n    const int col = i % rows;", "`row = i / n, col = i % n`"),
    ],
)  # fmt: skip
def test_the_division_is_named_where_both_indices_fit_each_other(old: str, new: str, fix: str) -> None:
    found = told(SOURCE.replace(old, new))
    assert (found["rule"], found["line"]) == ("divided-by-rows", 3), found
    assert fix in found["fix"]


def test_an_index_of_the_result_is_named_where_it_alone_does_not_fit() -> None:
    source = SOURCE.replace("me() / rows, col = me() % rows", "me() / n, col = me() % n")
    assert told(source)["rule"] not in ("divided-by-rows", "other-length")
    found = told(source.replace("out[col * rows + row]", "out[col * n + row]"))
    assert (found["rule"], found["line"]) == ("other-length", 4), found


def test_a_number_of_rows_is_not_said_to_be_another_length() -> None:
    consistent = SOURCE.replace("x[row * n + col]", "x[row * rows + col]")
    assert told(consistent)["rule"] != "other-length"
