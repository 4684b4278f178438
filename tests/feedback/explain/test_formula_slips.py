"""Slips in a kernel's formula, and what looks like them and is right."""

import time

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import formula_slips
from grader.feedback.explain.source_text import read

TEXT = '''code = r"""
__device__ float sigmoid_one(float x, float scale) {{
    {}
}}
__device__ float relu_one(float value, float bias) {{ {} }}
__global__ void {}(const float* x, const float* bias, float* out, int rows, int n, int cols) {{
    const int row = me() / n, col = me() % n;
    {}
}}
torch::Tensor sigmoid(torch::Tensor x) {{ return x; }}
"""
y = {}
'''
GOOD = "return scale / (1.0f + expf(-x)) + x;"
BOUND = "x = fminf(fmaxf(x, -80.0f), 80.0f);"
TRANSPOSE = "transpose_kernel"


def told(
    *,
    one: str = GOOD,
    bias: str = "return value + bias;",
    name: str = "k",
    kernel: str = "",
    python: str = "sigmoid(x)",
    expected: object = -372.5,
) -> set[str]:
    """The rules of all that is found, whatever the status."""
    text = read(TEXT.format(one, bias, name, kernel, python))
    finding = Finding("a case", Status.WRONG_OUTPUT, "", evidence={"expected": expected})
    return {f.rule for find, _ in formula_slips.FACTS for f in find(text, finding)}


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ({}, ""),
        ({"one": f"{BOUND} {GOOD}"}, "bounded-for-all"),
        ({"one": f"{BOUND} {GOOD}", "expected": 3.5}, ""),  # not beyond the bound: something else is wrong
        ({"one": f"float c = fminf(x, 80.0f); {GOOD}"}, ""),
        ({"one": f"{BOUND} return scale / (1.0f + expf(-x));"}, ""),
        ({"one": "return scale / (1.0f + powf(2.71f, -x)) + x;"}, "e-by-hand"),
        ({"one": "return scale / (1.0f + powf(2.7182818f, -x)) + x;"}, ""),
        ({"one": "return scale / (1.0f + logf(-x)) + x;"}, "not-the-exponential"),
        ({"one": "return scale / (1.0f + exp2f(-x * 1.442695f)) + x;"}, ""),
        ({"one": f"if (x > 20.0f) return scale; {GOOD}"}, "without-residual"),
        ({"one": f"if (x > 20.0f) return scale + x; {GOOD}"}, ""),
        ({"one": "if (x > 20.0f) return scale; return scale + x;"}, ""),
        ({"bias": "return value - bias;"}, "bias-taken-away"),
        ({"bias": "return value > -bias ? value + bias : 0;"}, ""),
        ({"kernel": "out[row] = x[row] + bias[row - row / cols];"}, "less-the-row"),
        ({"kernel": "out[row] = x[row] + bias[row - row / cols * cols];"}, ""),
        ({"name": "triple_kernel", "kernel": "out[row] = x[me()] * x[me()] * x[me()];"}, "third-power"),
        ({"name": "cube_kernel", "kernel": "out[row] = x[me()] * x[me()] * x[me()];"}, ""),
        ({"name": TRANSPOSE, "kernel": "out[col * rows + row] = x[row * n + col];"}, ""),
        ({"name": TRANSPOSE, "kernel": "out[row + rows * col] = x[col + n * row];"}, ""),
        ({"name": TRANSPOSE, "kernel": "out[col + rows * row] = x[row * n + col];"}, "rows-exchanged"),
        ({"name": TRANSPOSE, "kernel": "out[row * n + col] = x[col * rows + row];"}, "rows-exchanged"),
        ({"name": TRANSPOSE, "kernel": "out[col * n + row] = x[row * n + col];"}, ""),  # another mistake
        ({"name": TRANSPOSE, "kernel": "out[row * rows + col] = x[col * n + row];"}, "rows-exchanged"),
        ({"name": TRANSPOSE, "kernel": "out[row * rows + col] = x[col * rows + row];"}, ""),
        ({"python": "sigmoid(torch.sigmoid(x))"}, "taken-twice"),
        ({"python": "sigmoid(torch.relu(x))"}, ""),
        ({"python": "sigmoid(torch.sigmoid(x))", "one": "return scale * x + x;"}, ""),  # no kernel takes it
    ],
)
def test_a_slip_is_told_and_its_look_alike_is_not(parts: dict[str, str], rule: str) -> None:
    assert told(**parts) == ({rule} if rule else set())  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["x - ", "if (x) return 1;", "x = max(", "powf(2.7, ", "out[a"])
def test_a_hostile_text_takes_no_longer(text: str) -> None:
    began = time.process_time()
    told(one=text * 5000, kernel=text * 5000)
    assert time.process_time() - began < 5
