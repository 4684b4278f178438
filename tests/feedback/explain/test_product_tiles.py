"""Two tiles of a matrix product: how they are filled, which element a thread takes, and the grid that fits them."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SMALL = '''source = r"""
constexpr int SIDE = 16;
__global__ void k(const float* x, const float* weight, const float* bias, float* out, int64_t rows, int64_t cols, int64_t inner) {
    __shared__ float xs[SIDE][SIDE], ws[SIDE][SIDE];
    const int64_t row = int64_t(blockIdx.y) * SIDE + threadIdx.y, col = int64_t(blockIdx.x) * SIDE + threadIdx.x;
    const int64_t other = int64_t(blockIdx.x) * SIDE + threadIdx.y;
    float sum = 0.0f;
    for (int64_t k0 = 0; k0 < inner; k0 += SIDE) {
        const int64_t k = k0 + threadIdx.x;
        xs[threadIdx.y][threadIdx.x] = row < rows && k < inner ? x[row * inner + k] : 0.0f;
        ws[threadIdx.y][threadIdx.x] = other < cols && k < inner ? weight[other * inner + k] : 0.0f;
        __syncthreads();
        for (int j = 0; j < SIDE; ++j) sum += xs[threadIdx.y][j] * ws[threadIdx.x][j];
        __syncthreads();
    }
    if (row < rows && col < cols) out[row * cols + col] = sum;
}
"""
def product(x, weight):
    return extension.gemm(x, weight, x.new_empty(0))
def whole(x, weight, bias):
    return extension.gemm(x, weight, bias)
'''
WIDE = '''source = r"""
constexpr int SIDE = 16;
__global__ void k(const float* x, const float* weight, float* out, int64_t rows, int64_t cols, int64_t inner) {
    __shared__ float xs[64][17], ws[64][17];
    const int64_t row0 = int64_t(blockIdx.y) * 64, col0 = int64_t(blockIdx.x) * 64;
    float sum[4][4] = {};
    for (int64_t k0 = 0; k0 < inner; k0 += SIDE) {
        for (int e = threadIdx.y * SIDE + threadIdx.x; e < 64 * SIDE; e += SIDE * SIDE) {
            const int r = e / SIDE, k = e % SIDE;
            xs[r][k] = row0 + r < rows && k0 + k < inner ? x[(row0 + r) * inner + k0 + k] : 0.0f;
            ws[r][k] = col0 + r < cols && k0 + k < inner ? weight[(col0 + r) * inner + k0 + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < SIDE; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += xs[threadIdx.y + 16 * i][k] * ws[threadIdx.x + 16 * j][k];
        __syncthreads();
    }
    for (int e = 0; e < 16; ++e) {
        const int64_t row = row0 + threadIdx.y + 16 * (e / 4), col = col0 + threadIdx.x + 16 * (e % 4);
        if (row < rows && col < cols) out[row * cols + col] = sum[e / 4][e % 4];
    }
}
torch::Tensor gemm(torch::Tensor x) {
    const dim3 block(SIDE, SIDE), grid((cols + 63) / 64, (rows + 63) / 64);
    k<<<grid, block>>>(x);
}
"""
'''


def told(source: str, status: Status = Status.WRONG_OUTPUT, **evidence: Any) -> dict[str, Any]:
    finding = Finding("one", status, "wrong", evidence=evidence)
    found = attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "line": 0}
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("source", "was", "now", "rule", "line"),
    [
        (SMALL, "ws[threadIdx.x][j]", "ws[j][threadIdx.x]", "tile-turned", 13),
        (SMALL, "ws[threadIdx.x][j]", "ws[threadIdx.y][j]", "other-axis", 13),
        (WIDE, "ws[threadIdx.x + 16 * j][k]", "ws[k][threadIdx.x + 16 * j]", "tile-turned", 16),
        (WIDE, "ws[threadIdx.x + 16 * j]", "ws[threadIdx.y + 16 * j]", "other-axis", 16),
        (SMALL, "weight[other * inner", "weight[col * inner", "row-of-another", 11),
        (SMALL, "SIDE + threadIdx.y;", "SIDE + threadIdx.x;", "row-of-another", 11),
        (WIDE, "(cols + 63) / 64, (rows + 63) / 64", "(cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE", "grid-of-another-tile", 25),
    ],
)  # fmt: skip
def test_a_slip_in_the_tiles_is_named(source: str, was: str, now: str, rule: str, line: int) -> None:
    assert was in source
    found = told(source.replace(was, now), function="product")
    assert (found["rule"], found["line"]) == (rule, line), found


TURNED = SMALL.replace("ws[threadIdx.y][threadIdx.x] =", "ws[threadIdx.x][threadIdx.y] =")


@pytest.mark.parametrize("source", [SMALL, WIDE, TURNED.replace("ws[threadIdx.x][j]", "ws[j][threadIdx.x]")])
def test_of_what_is_right_nothing_is_said(source: str) -> None:
    for status in (Status.WRONG_OUTPUT, Status.NOT_FINITE):
        assert told(source, status, function="product")["rule"] == ""


@pytest.mark.parametrize("tile", ["x", "w"])
def test_a_copy_beyond_the_sum(tile: str) -> None:
    line, end = {"x": (10, "x[row * inner + k]"), "w": (11, "weight[other * inner + k]")}[tile]
    one = SMALL.splitlines()
    one[line - 1] = one[line - 1].replace(" && k < inner", "")
    source = "\n".join(one)
    seen = {"kind": "out-of-bounds", "line": line, "what": f"reads past the end of {end[0]}"}
    for status, evidence in ((Status.NOT_FINITE, {}), (Status.ILLEGAL_ACCESS, {"seen": [seen]})):
        found = told(source, status, function="product", **evidence)
        assert (found["rule"], found["line"]) == ("beyond-the-sum", line), found
        assert "`k < inner`" in found["cause"] and (end in found["cause"]) == bool(evidence)
    assert "does the same" not in found["cause"]
    for flag in (
        "const bool there = k < inner;",
        "const bool there = k < inner, more = true;",
    ):  # that no copy asks for
        unused = source.replace("        xs[", f"        {flag}\n        xs[").replace("&& k < inner", "")
        moved = [seen | {"line": line + 1}]
        found = told(unused, Status.ILLEGAL_ACCESS, function="product", seen=moved)
        assert found["rule"] == "beyond-the-sum" and f"Line {22 - line} does the same." in found["cause"], (
            found
        )
    for asked in ("if (k >= inner) continue;", "const int there = k < inner;"):  # may be used in its place
        assert told(source.replace("        xs[", f"        {asked}\n        xs["), Status.NOT_FINITE, function="product")["rule"] == ""  # fmt: skip


def test_a_grid_is_told_of_sectors_too() -> None:
    source = WIDE.replace("/ 64, (rows + 63) / 64", "/ SIDE, (rows + 63) / SIDE")
    for metric, rule in (("global_load_sectors", "grid-of-another-tile"), ("shared_load_requests", "")):
        assert told(source, Status.FAILED, metric=metric)["rule"] == rule


def test_a_parameter_of_another_function_is_not_missed_yet() -> None:
    assert told(SMALL, function="whole")["rule"] == "unused-parameter"
    assert told(SMALL, function="product")["rule"] == ""
    assert told(SMALL)["rule"] == "unused-parameter"


NULL = '''source = r"""
__global__ void k(const float* x, const float* bias, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = x[i] + bias[i];
}
torch::Tensor f(torch::Tensor x, torch::Tensor bias) {
    k<<<1, 64>>>(x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), n);
}
"""
def product(x):
    nothing = x.new_empty(0)
    return extension.f(x, nothing)
'''


def test_a_null_pointer_is_traced_to_the_call_that_hands_it_over() -> None:
    what = "reads an address that is not device memory; such are a null pointer's, one of the host's, and one far past an array's end"
    seen = [{"kind": "illegal-address", "line": 5, "what": what}]
    found = told(NULL, Status.ILLEGAL_ACCESS, seen=seen)
    assert (found["rule"], found["line"]) == ("null-pointer", 5), found
    assert "product" in found["cause"] and "(line 13)" in found["cause"] and "`if (bias) ...`" in found["fix"]
    for source in (NULL.replace("new_empty(0)", "new_empty(64)"), NULL.replace("+ bias[i]", "+ 1")):
        assert told(source, Status.ILLEGAL_ACCESS, seen=seen)["rule"] != "null-pointer"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("v += bias[c] + residual[i];\nv = v < 0.0f ? 0.0f : v;", 3),
        ("v = sum + bias[c] + residual[i];\nif (v < 0.0f) v = 0.0f;", 3),
        ("v += bias[c];\nv = v < 0.0f ? 0.0f : v;\nv += residual[i];", 0),
        ("v += bias[c];\nv = (v < 0.0f ? 0.0f : v) + residual[i];", 0),
        ("const float r = residual[i];\nv = v < 0.0f ? 0.0f : v;\nv += r;", 0),
    ],
)
def test_a_residual_within_the_relu(body: str, line: int) -> None:
    source = f'source = r"""__global__ void k(const float* bias, const float* residual, float* out) {{\n{body}\nout[i] = v;\n}}"""\n'
    for message, right in (("This case: Bias, ReLU and residual.", line), ("This case: ReLU.", 0)):
        finding = Finding("one", Status.WRONG_OUTPUT, message)
        found = attach.explained(finding, source).evidence.get("explanation") or {"rule": ""}
        assert isinstance(found, dict)
        assert (found["line"] if found["rule"] == "added-before" else 0) == right, found


BRANCH = '''source = r"""
__global__ void k(const float* x, float* out, int inner) {
    __shared__ float tile[64];
    for (int k0 = 0; k0 < inner; k0 += 16) {
        for (int i = threadIdx.x; i < 64; i += 16) tile[i] = x[k0 + i];
        if (CONDITION) __syncthreads();
        out[threadIdx.x] += tile[0];
    }
}
"""
'''


@pytest.mark.parametrize(
    ("condition", "rule", "said"),
    [
        ("k0 < 64", "barrier-left-out", "no thread of the block waits"),
        ("threadIdx.x < 8", "barrier-in-branch", "only the threads for which"),
    ],
)
def test_a_condition_that_is_the_same_for_the_block_keeps_no_thread_from_others(
    condition: str, rule: str, said: str
) -> None:
    found = told(BRANCH.replace("CONDITION", condition), Status.RACE)
    assert (found["rule"], found["line"]) == (rule, 6) and said in found["cause"]


@pytest.mark.parametrize(
    ("why", "rule", "line", "said"),
    [
        ("its __shared__ variables take more than 48 KB, which nvcc refuses", "shared-too-large", 3, "48 KB"),
        ("gridDim.y and gridDim.z are at most 65535", "grid-along-y", 7, "65,535"),
        ("a block has at most 1024 threads", "block-too-large", 7, ""),
    ],
)
def test_a_refused_launch_is_told_for_its_own_reason(why: str, rule: str, line: int, said: str) -> None:
    source = 'source = r"""\n__global__ void k(float* out) {\n    __shared__ float tile[64][200];\n}\n'
    source += 'void f(float* out) {\n    \n    k<<<grid, block>>>(out);\n}\n"""\n'
    message = "CUDA error: invalid argument"
    text = f"{message}\nk<<<(2, 2, 1), (16, 16, 1), 0>>>: {why}"
    finding = Finding("one", Status.CUDA_ERROR, message, evidence={"text": text})
    found = attach.explained(finding, source).evidence["explanation"]
    assert isinstance(found, dict)
    assert (found["rule"], found["line"]) == (rule, line) and said in found["cause"]
