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


MATRIX = '''source = r"""
__global__ void square(const float* in, float* out, int64_t rows, int64_t cols) {
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    out[row * cols + col] = in[row * cols + col];
}
torch::Tensor f(torch::Tensor x, torch::Tensor bias) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t rows = x.size(0), cols = x.size(1);
    const dim3 block(32, 8);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    square<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    return out;
}
"""
'''


@pytest.mark.parametrize(
    ("old", "new", "rule", "line", "fix"),
    [
        ("(rows + block.y", "(cols + block.y", "grid-of-another-size", 11, "Write `(rows + block.y - 1) / block.y` there."),
        ("(cols + block.x", "(rows + block.x", "grid-of-another-size", 11, "Write `(cols + block.x - 1) / block.x` there."),
        ("(rows + block.y - 1) / block.y", "(rows + block.x - 1) / block.x", "grid-by-another-block", 11, "Write `(rows + block.y - 1) / block.y` there."),
        ("rows = x.size(0), cols = x.size(1)", "rows = x.size(1), cols = x.size(0)", "rows-for-columns", 9, "Write `rows = x.size(0)` and `cols = x.size(1)`."),
        ("cols = x.size(1)", "cols = x.size(0)", "rows-for-columns", 9, "Write `cols = x.size(-1)`."),
        ("x.size(1);", "x.size(1);", "second-for-last", 9, "Write `cols = x.size(-1)`, which is the last of any number."),
        ("rows >= rows", "", "", 0, ""),
    ],
)  # fmt: skip
def test_a_size_that_is_another_one(old: str, new: str, rule: str, line: int, fix: str) -> None:
    dims = "0, 0, 5" if rule == "second-for-last" else "0, 5"
    finding = Finding("a case", Status.WRONG_OUTPUT, f"First wrong: element [{dims}] is 1, expected 2.")
    found = attach.explained(finding, MATRIX.replace(old, new)).evidence.get("explanation") or {}
    assert (found.get("rule", ""), found.get("line", 0), found.get("fix", "")) == (rule, line, fix)


@pytest.mark.parametrize(
    "source",
    [SOURCE, SOURCE.replace("blockIdx.y", "0").replace(", heads), block", "), block")],
    ids=["two numbers", "no second is asked for"],
)
def test_what_is_right_is_not_blamed(source: str) -> None:
    assert told(source)[0] != "grid-of-one-dimension"
