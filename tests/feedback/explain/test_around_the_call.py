"""Arithmetic in Python around a call of the extension."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import around_the_call
from grader.feedback.explain.source_text import read

MODEL = '''code = r"""
__device__ float one(float x, float scale, float bias) {{
    return {};
}}
__global__ void k(const float* x, float* out, float scale, float bias, int n) {{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = one(x[i], scale, bias);
}}
torch::Tensor scaled_sigmoid(torch::Tensor x, double scale, double bias) {{ return x; }}
"""
scaled_sigmoid = build(cuda_sources=code)

class M(nn.Module):
    def forward(self, x):
        t = self.gemm(x)
        y = scaled_sigmoid(t, self.scale, self.bias)
        return {}
'''


def found(kernel: str, value: str) -> list[tuple[str, int, str]]:
    finding = Finding("a case", Status.WRONG_OUTPUT, "", 0, 1, {})
    text = read(MODEL.format(kernel, value))
    return [
        (f.rule, f.line, f"{f.cause} {f.fix}")
        for find, _ in around_the_call.FACTS
        for f in find(text, finding)
    ]


@pytest.mark.parametrize(
    ("kernel", "value", "told"),
    [
        (
            "scale / (1 + expf(-x)) + x",
            "y + t",
            "adds t to what scaled_sigmoid returns, and line 3 has added it",
        ),
        ("x + scale / (1 + expf(-x))", "self.gemm(x) + y", "adds self.gemm(x) to what"),
        ("x + scale", "scaled_sigmoid(t, self.scale, self.bias) + t", "Two are added."),
        (
            "x * scale",
            "y.mul(self.scale)",
            "multiplies what scaled_sigmoid returns by self.scale, and line 3",
        ),
        ("scale * x", "self.scale * y", "used it as a factor already: `scale * x`"),
        ("fmaxf(x + bias, 0.0f)", "y + self.bias", "adds self.bias to what"),
        ("x + bias", "torch.add(y, self.bias)", "has added it already: `x + bias`"),
        (
            "x",
            "torch.sigmoid(scaled_sigmoid(t, self.scale, self.bias))",
            "applies sigmoid to what scaled_sigmoid returns",
        ),
        (
            "x",
            "F.relu(scaled_sigmoid(t, 1, 2))",
            "sets what is negative in the result of scaled_sigmoid to 0",
        ),
    ],
)
def test_what_the_kernel_has_done_already(kernel: str, value: str, told: str) -> None:
    ((_, line, words),) = found(kernel, value)
    assert line == 17 and told in words


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        ("scale / (1 + expf(-x))", "y + t"),  # the kernel leaves it to Python
        ("scale / (1 + expf(x + 1))", "y + t"),
        ("out[x + 1] * scale", "y + t"),
        ("x + scale", "y + x"),  # another tensor
        ("x + scale", "y + 1"),
        ("x + scale", "y"),
        ("x > 0 ? x : 0", "torch.relu(scaled_sigmoid(t, 1, 2))"),
        ("x", "torch.tanh(scaled_sigmoid(t, 1, 2))"),
    ],
)
def test_what_it_has_not(kernel: str, value: str) -> None:
    assert found(kernel, value) == []
