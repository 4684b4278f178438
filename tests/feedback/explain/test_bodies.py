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


def seen_at(source: str, status: Status, line: int, what: str = "") -> dict[str, Any]:
    kind = "uninitialised" if status is Status.UNINITIALISED else "out-of-bounds"
    evidence = {"seen": [{"line": line, "kind": kind, "what": what}]}
    return attach.explained(Finding("memory", status, what, evidence=evidence), source).evidence.get(
        "explanation", {"rule": ""}
    )


def test_a_read_that_takes_the_column_for_the_row_is_named() -> None:
    source = SOURCE.replace("me() / rows, col = me() % rows", "me() / n, col = me() % n")
    source = source.replace("x[row * n + col]", "x[col * n + row]")
    found = seen_at(source, Status.ILLEGAL_ACCESS, 4)
    assert (found["rule"], found["line"], found["fix"]) == ("turned-read", 4, "Write `x[row * n + col]`.")
    assert seen_at(source, Status.ILLEGAL_ACCESS, 3)["rule"] != "turned-read"


PAIRS = '''source = r"""
__global__ void pairs_kernel(const float* x, float* out, int n) {
    __shared__ float tile[SIZE + 1];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] : 0;
    if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1];
}
"""
'''


def test_who_fills_its_own_element_twice_is_told_that_another_stays_empty() -> None:
    what = "reads element 64 of tile (260 bytes of shared memory), which no thread of the block has written"
    for index in ("SIZE - 1", "t"):
        found = seen_at(PAIRS.replace("tile[SIZE] =", f"tile[{index}] ="), Status.UNINITIALISED, 8, what)
        assert (found["rule"], found["line"]) == ("own-element-again", 6), found
        assert "which line 5 has filled already" in found["cause"]
    assert seen_at(PAIRS, Status.UNINITIALISED, 8, what)["rule"] == "half-filled"


def test_a_kernel_that_writes_into_another_name_of_the_input_is_named() -> None:
    source = '''source = r"""
__global__ void twice(const float* x, float* out, int n) { }
torch::Tensor run(torch::Tensor x) {
    x = x.contiguous();
    torch::Tensor out = x;
    twice<<<1, 64>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
    return out;
}
"""
'''
    finding = Finding(
        "tiny", Status.MUTATED_INPUT, "After the call, input 0 no longer holds what was passed in."
    )
    found = attach.explained(finding, source).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("in-place", 5)
    assert "torch::empty_like(x)" in found["fix"]
    own = source.replace("out = x;", "out = torch::empty_like(x);")
    assert "explanation" not in attach.explained(finding, own).evidence
