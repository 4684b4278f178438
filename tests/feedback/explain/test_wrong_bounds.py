"""Guards that compare an index with the bound of another one."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import wrong_bounds
from grader.feedback.explain.source_text import read

SOURCE = '''code = r"""
__global__ void transpose(const float* x, float* out, int rows, int n) {
    const int row = me() / n, col = me() % n;
    if (row < rows) out[col * rows + row] = x[row * n + col];
}
__global__ void bias(const float* x, const float* b, float* out, int n, int cols) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + b[i % cols];
}
"""
'''


def found(old: str = "", new: str = "") -> list[tuple[int, str]]:
    assert old in SOURCE
    finding = Finding("memory", Status.ILLEGAL_ACCESS, "reads element 126 of x (Float[126])")
    text = read(SOURCE.replace(old, new) if old else SOURCE)
    return [(fact.line, fact.fix) for find, _ in wrong_bounds.FACTS for fact in find(text, finding)]


def test_right_guards_are_not_blamed() -> None:
    assert found() == []


def test_two_bounds_that_are_exchanged_are_not_told_by_half() -> None:
    new = "const int i = row * n + col; if (row >= n || col >= rows) return; out"
    assert found("if (row < rows) out", new) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("if (row < rows)", "if (row < n)", 4, "Write `row < rows`."),
        ("if (row < rows)", "if (n > row)", 4, "Write `rows > row`."),
        ("if (row < rows) out", "if (row >= n) return; out", 4, "Write `row >= rows`."),
        (
            "if (row < rows) out",
            "const int i = row * n + col; if (row >= n) return; out",
            4,
            "Write `row >= rows`.",
        ),
        (
            "if (row < rows)",
            "if (col < rows)",
            4,
            "col is smaller than n in any case; ask for the other one: `row < rows`.",
        ),
        ("if (i < n)", "if (i < cols)", 8, "Write `i < n`."),
    ],
)
def test_the_bound_of_another_index(old: str, new: str, line: int, fix: str) -> None:
    assert found(old, new) == [(line, fix)]


ME = "__device__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }"


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("if (threadIdx.x < n) out[me()] = 3 * x[me()];", "Ask for the element: `me() < n`."),
        ("const int t = threadIdx.x; if (t >= n) return; out[me()] = x[me()];", "`me() >= n`"),
        ("int i = blockIdx.x * 64 + threadIdx.x; if (threadIdx.x < n) out[i] = x[i];", "`i < n`"),
        ("int i = blockIdx.x * n + threadIdx.x; if (threadIdx.x < n) out[i] = x[i];", ""),
        ("if (me() < n) out[me()] = x[me()];", ""),
        ("int i = blockIdx.x * 64 + threadIdx.x; if (i < n) out[i] = x[i];", ""),
        ("if (threadIdx.x < n) out[threadIdx.x] = x[me()];", ""),
        ("if (threadIdx.x < 32) out[me()] = x[me()];", ""),
        ("if (threadIdx.x < n) out[blockIdx.x * n + threadIdx.x] = 1;", ""),
    ],
)
def test_a_guard_that_asks_for_the_place_in_the_block(code: str, fix: str) -> None:
    source = f'code = r"""\n{ME}\n__global__ void k(const float* x, float* out, int n) {{\n{code}\n}}\n"""\n'
    finding = Finding("memory", Status.ILLEGAL_ACCESS, "", 0, 1, {})
    facts = [f for find, _ in wrong_bounds.FACTS for f in find(read(source), finding)]
    assert [(f.rule, f.line) for f in facts] == ([("guard-of-place", 4)] if fix else [])
    assert all(fix in f.fix and "later blocks" in f.cause for f in facts)
