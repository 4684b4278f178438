"""Lines that lack brackets: which operator is carried out first, and what that makes of the line."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts, precedence


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("return n + size - 1 // size", "return (n + size - 1) // size", "`n + size - (1 // size)`"),
        ("int b = n + t - 1 / t;", "int b = (n + t - 1) / t;  // blocks", "`n + t - (1 / t)`"),
        ("return 1 << n + 1", "return (1 << n) + 1", "`1 << (n + 1)`"),
        ("i = a * b + c % n", "i = (a * b + c) % n", "`a * b + (c % n)`"),
    ],
)
def test_what_a_line_without_brackets_computes(before: str, after: str, told: str) -> None:
    cause, fix = precedence.first(before, after) or ("", "")
    assert told in cause and fix == f"Write `{after.partition('  //')[0]}`."


@pytest.mark.parametrize(
    ("before", "after"),
    [("x = a + b", "x = (a + b)"), ("x = (a + b) * c", "x = a + b * c"), ("x = a", "x = b")],
)
def test_other_differences_are_not_told(before: str, after: str) -> None:
    assert precedence.first(before, after) is None


PYTHON = "def blocks_for(n, size):\n    return n + size - 1 // size\n"
CPP = '''code = r"""
void f(int n) {
    const int threads = 256, blocks = n + threads - 1 / threads;
    k<<<blocks, threads>>>(n);
}
"""
'''


@pytest.mark.parametrize(
    ("source", "status", "message", "line", "fix"),
    [
        (
            PYTHON,
            Status.WRONG_ANSWER,
            "Line 2: blocks_for(32, 8) is 40, expected 4.",
            2,
            "`(n + size - 1) // size`",
        ),
        (CPP, Status.WRONG_OUTPUT, "wrong", 3, "`(n + threads - 1) / threads`"),
    ],
)
def test_one_divided_alone_is_found_without_a_search(
    source: str, status: Status, message: str, line: int, fix: str
) -> None:
    told = facts.explained(Finding("a case", status, message), source)
    assert told is not None and (told.rule, told.line) == ("one-divided", line) and fix in told.fix
