"""Calls whose arguments bear the names of each other's parameters."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import exchanged_arguments
from grader.feedback.explain.source_text import read

SOURCE = '''code = r"""
__device__ float one(float x, float scale) {
    return x * scale;
}
__global__ void k(const float* x, float* out, float scale, int n) {
    if (threadIdx.x < n) out[threadIdx.x] = one(x[threadIdx.x], scale);
}
"""


def blocks(n, size):
    return -(-n // size)


def grid(n, size):
    return blocks(n, size)
'''


def found(old: str, new: str) -> list[tuple[int, str]]:
    assert old in SOURCE
    finding = Finding("a case", Status.WRONG_OUTPUT, "wrong")
    text = read(SOURCE.replace(old, new))
    return [
        (f.line, f"{f.cause} {f.fix}") for find, _ in exchanged_arguments.FACTS for f in find(text, finding)
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        (
            "one(x[threadIdx.x], scale)",
            "one(scale, x[threadIdx.x])",
            6,
            ("(line 2)", "`one(x[threadIdx.x], scale)`"),
        ),
        ("return blocks(n, size)", "return blocks(size, n)", 16, ("(line 11)", "`blocks(n, size)`")),
    ],
)
def test_two_arguments_in_each_others_place(old: str, new: str, line: int, told: tuple[str, ...]) -> None:
    ((at, said),) = found(old, new)
    assert at == line and all(one in said for one in told)


def test_other_orders_are_not_blamed() -> None:
    assert found("return blocks(n, size)", "return blocks(n, n)") == []
