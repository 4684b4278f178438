"""Quotients and remainders whose sides are exchanged, in C++ and in Python."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import turned_operands
from grader.feedback.explain.source_text import read

SOURCE = '''code = r"""
__global__ void k(const float* x, const float* bias, float* out, int n, int cols) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / cols;
    if (i < n) out[i] = x[i] + bias[i % cols] * (n / cols);
}
"""


def owner(row, col):
    return [col // 16, row // 16, col % 16, row % 16]
'''


def found(old: str, new: str, status: Status, message: str) -> list[tuple[int, str]]:
    assert old in SOURCE
    text = read(SOURCE.replace(old, new))
    finding = Finding("a case", status, message)
    return [
        (f.line, f.fix) for find, fits in turned_operands.FACTS if status in fits for f in find(text, finding)
    ]


@pytest.mark.parametrize(
    ("old", "new", "fix"),
    [
        ("i % cols", "cols % i", ["Write `i % cols`, the place of element i in its row of cols."]),
        (
            "row = i / cols",
            "row = cols / i",
            ["Write `i / cols`, the number of the row of cols that element i is in."],
        ),
        ("i % cols", "64 % threadIdx.x", ["Write `threadIdx.x % 64`, the remainder of threadIdx.x."]),
        ("i % cols", "i % cols", []),
        (
            "    const int i",
            "    if (cols % 2 == 0) for (int j = threadIdx.x; j < n; ++j) out[j] = 0;\n    const int i",
            [],
        ),
    ],
)
def test_a_size_is_divided_by_a_threads_number(old: str, new: str, fix: list[str]) -> None:
    said = found(old, new, Status.ILLEGAL_ACCESS, "divides an integer by zero.")
    assert [one for _, one in said] == fix


@pytest.mark.parametrize(("old", "new"), [("col % 16", "16 % col"), ("row // 16", "16 // row")])
def test_a_division_by_zero_in_python(old: str, new: str) -> None:
    message = "ZeroDivisionError: integer modulo by zero (mine.py, line 10: return ...)"
    assert found(old, new, Status.RAISED, message) == [(10, f"Write `{old}`.")]
    assert found(old, old, Status.RAISED, message) == []
