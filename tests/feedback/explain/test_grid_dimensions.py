"""A grid with one number, and a kernel that asks for its second."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''source = r"""
template <typename T>
__global__ void heads_kernel(const T* x, T* out, int n) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) out[blockIdx.y * n + i] = x[blockIdx.y * n + i];
}
void run(const float* x, float* out, int n, int heads) {
    const dim3 grid((n + 31) / 32, heads), block(32);
    heads_kernel<float><<<grid, block>>>(x, out, n);
}
"""
'''


def told(source: str) -> tuple[str, int]:
    finding = Finding("memory", Status.UNINITIALISED, "Elements were never written.")
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    return found.get("rule", ""), found.get("line", 0)


@pytest.mark.parametrize("grid", ["grid((n + 31) / 32)", "grid{1}", "grid(blocks(n, 32))"])
def test_one_number_for_two(grid: str) -> None:
    wrong = SOURCE.replace("grid((n + 31) / 32, heads)", grid)
    assert wrong != SOURCE and told(wrong) == ("grid-of-one-dimension", 8)


@pytest.mark.parametrize(
    "source",
    [SOURCE, SOURCE.replace("blockIdx.y", "0").replace(", heads), block", "), block")],
    ids=["two numbers", "no second is asked for"],
)
def test_what_is_right_is_not_blamed(source: str) -> None:
    assert told(source)[0] != "grid-of-one-dimension"
