"""A name of C++ that another function of the file declares."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''code = r"""
__device__ float one(float v) {
    return v;
}
__global__ void scale_kernel(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float twice = 2 * x[i];
    out[i] = one(x[i]);
}
torch::Tensor scale(torch::Tensor x, double factor) {
    const int64_t threads = 256, blocks = (x.numel() + 255) / 256;
    torch::Tensor out = torch::empty_like(x);
    for (int k = 0; k < 2; k++) { }
    scale_kernel<<<blocks, threads, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
    return out;
}
"""
load_inline(name="a", cpp_sources="", cuda_sources=code, functions=["scale"])
'''


def told(name: str, line: int) -> dict[str, object]:
    code = SOURCE.splitlines()[line - 1].strip()
    finding = Finding("load", Status.COMPILE_ERROR, f"mine.py, line {line}: '{name}' was not declared in this scope",
                      evidence={"log": f"mine.py:{line}:9: error: '{name}' was not declared in this scope\\n {line} | {code}"})  # fmt: skip
    found = attach.explained(finding, SOURCE).evidence["explanation"]
    assert isinstance(found, dict) and found["rule"] == "undeclared"
    return found


@pytest.mark.parametrize(
    ("name", "line", "cause", "fix"),
    [
        ("threads", 6, "threads is a variable of scale (line 11), which runs on the host", "`blockDim.x`"),
        ("blocks", 6, "blocks is a variable of scale (line 11)", "The number of blocks is `gridDim.x`"),
        ("factor", 8, "factor is a variable of scale (line 10)", "a parameter more in scale_kernel"),
        ("k", 8, "k is a variable of scale (line 13)", "a parameter more in scale_kernel"),
        ("twice", 3, "twice is a variable of scale_kernel (line 7) and known there alone.", "Hand it over to one"),
        ("i", 12, "i is a variable of scale_kernel (line 6)", "Hand it over to scale"),
    ],
)  # fmt: skip
def test_the_function_that_declares_it_is_named(name: str, line: int, cause: str, fix: str) -> None:
    found = told(name, line)
    assert str(found["cause"]).startswith(cause) and fix in str(found["fix"])
    assert "Did you mean" not in str(found["cause"])


@pytest.mark.parametrize(("name", "line"), [("twcie", 8), ("twice", 6), ("nothing", 12)])
def test_other_names_are_told_as_before(name: str, line: int) -> None:
    assert "nothing of that name is declared before this line" in str(told(name, line)["cause"])


@pytest.mark.parametrize("name", ["cudaGraphNodeSetEnabled", "CUBLAS_SIDE_LEFT", "__builtin_assume"])
def test_a_name_of_cuda_is_not_told_to_be_misspelt(name: str) -> None:
    from grader.feedback.explain.engine import explain

    found = explain(f"a.cu:3:5: error: '{name}' was not declared in this scope")
    assert found is not None and found.rule == "undeclared-of-cuda" and name in found.cause
    assert "Did you mean" not in found.cause and "CPU back end does not have it" in found.fix
