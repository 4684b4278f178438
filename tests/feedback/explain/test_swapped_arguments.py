"""Arguments in another order than the parameters: of a launch, and of a C++ function that Python calls."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

LAUNCHED = '''code = r"""
__global__ void add_kernel(const float* x, const float* bias, float* out, int64_t n, int64_t cols) {
    const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + bias[i % cols];
}
torch::Tensor add(torch::Tensor x, torch::Tensor bias) {
    const int64_t n = x.numel(), cols = x.size(1);
    torch::Tensor out = torch::empty_like(x);
    const float *xp = x.data_ptr<float>(), *bp = bias.data_ptr<float>();
    auto op = (float*)out.data_ptr();
    add_kernel<<<(n + 255) / 256, 256, 0, stream>>>(ARGUMENTS);
    return out;
}
"""
add = load_inline(name="a", cpp_sources="", cuda_sources=code, functions=["add"]).add
'''
CALLED = '''code = r"""
torch::Tensor scale_shift(const torch::Tensor& x, PARAMETERS) {
    return x * scale + shift;
}
"""
extension = load_inline(name="a", cpp_sources=code, functions=["scale_shift"])


def scale_shift(x, scale, shift):
    return extension.scale_shift(CALL)
'''


def told(source: str) -> dict[str, object]:
    found = attach.explained(Finding("a case", Status.WRONG_OUTPUT, "wrong"), source).evidence.get(
        "explanation"
    )
    assert found is None or isinstance(found, dict)
    return found or {"rule": ""}


@pytest.mark.parametrize(
    ("arguments", "cause", "fix"),
    [
        ("bp, xp, op, n, cols", "bp, the pointer of bias, is handed over here as x, and xp, that of x, as bias",
         "`(xp, bp, op, n, cols)`"),
        ("op, bp, xp, n, cols", "op, the pointer of out, is handed over here as x", "`(xp, bp, op, n, cols)`"),
        ("bias.data_ptr<float>(), x.data_ptr<float>(), op, n, cols", "Argument 1 of this launch is made of bias",
         "`(x.data_ptr<float>(), bias.data_ptr<float>(), op, n, cols)`"),
        ("static_cast<const float*>(bp), xp, op, n, cols", "bp, the pointer of bias", "Exchange the two."),
        ("xp, bp, op, cols, n", "Argument 4 of this launch is made of cols", "`(xp, bp, op, n, cols)`"),
    ],
)  # fmt: skip
def test_what_a_launch_hands_over_in_another_order(arguments: str, cause: str, fix: str) -> None:
    for before, line in (("", 11), ("\n", 12)):  # the line of the argument
        found = told(LAUNCHED.replace("ARGUMENTS", before + arguments))
        at = line if arguments.startswith(("bp", "op", "bias", "static")) else 11 + len(before)
        assert found["rule"] == "arguments-swapped" and found["line"] == at, found
        assert cause in str(found["cause"]) and fix in str(found["fix"])


@pytest.mark.parametrize(
    "arguments", ["xp, bp, op, n, cols", "x.data_ptr<float>(), bp, op, x.numel(), x.size(1)"]
)
def test_a_launch_in_order(arguments: str) -> None:
    assert told(LAUNCHED.replace("ARGUMENTS", arguments))["rule"] != "arguments-swapped"


def test_a_head_in_another_order_than_the_task() -> None:
    source = CALLED.replace("PARAMETERS", "double shift, double scale").replace("CALL", "x, scale, shift")
    found = told(source)
    assert (found["rule"], found["line"]) == ("head-swapped", 2)
    assert "line 10 hands over in that order, so shift and scale change places" in str(found["cause"])
    assert "`scale_shift(const torch::Tensor& x, double scale, double shift)`" in str(found["fix"])


def test_a_call_in_another_order_than_the_task() -> None:
    source = CALLED.replace("PARAMETERS", "double scale, double shift").replace("CALL", "x, shift, scale")
    assert (told(source)["rule"], told(source)["line"]) == ("arguments-swapped", 10)
