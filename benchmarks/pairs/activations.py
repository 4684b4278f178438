"""Activations: one element in, one element out."""

from benchmarks.pairs.kit import COARSE, HEAD, Edits, Pair, elementwise, reference

RAND = "[torch.rand(16, 1021)]"
RANDN = "[torch.randn(3, 5, 257)]"


def _one(
    name: str, torchs: str, expression: str, a: str = "1.0", wrong: Edits = (), inputs: str = RANDN
) -> Pair:
    right = elementwise(f"pair_{name}", expression).replace(", A)", f", {a})")
    other = wrong or ((f", {a})", f", 0.6 * {a})"),)
    return Pair(name, reference(f"return {torchs}", inputs), right, other, COARSE)


LEAKY = _one("leaky_relu", "F.leaky_relu(x, 0.1)", "v > 0.f ? v : a * v", "0.1", inputs=RAND)

TRITON = f"""{HEAD}import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, 1.0 / (1.0 + tl.exp(-v)), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        sigmoid_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
"""

NUMBA = f"""{HEAD}from numba import cuda


@cuda.jit
def square_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * x[i]


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        square_kernel[(n + 63) // 64, 64](x.view(-1), out.view(-1))
        return out
"""

PAIRS = [
    _one("relu", "torch.relu(x)", "v > 0.f || v != v ? a * v : 0.f"),
    LEAKY,
    _one("tanh", "torch.tanh(x)", "a * tanhf(v)"),
    _one("gelu", "F.gelu(x)", "a * 0.5f * v * (1.f + erff(v * 0.70710678f))"),
    _one(
        "gelu_tanh", "F.gelu(x, approximate='tanh')",
        "0.5f * v * (1.f + tanhf(0.79788456f * (v + a * 0.044715f * v * v * v)))",
    ),
    _one("silu", "F.silu(x)", "v / (1.f + expf(-a * v))"),
    _one("elu", "F.elu(x, 1.5)", "v > 0.f ? v : a * expm1f(v)", "1.5"),
    _one("softplus", "F.softplus(x)", "v > 20.f ? v : a * log1pf(expf(v))"),
    _one("hardswish", "F.hardswish(x)", "v * fminf(fmaxf(v + 3.f * a, 0.f), 6.f) / 6.f"),
    _one("mish", "F.mish(x)", "v * tanhf(a * (v > 20.f ? v : log1pf(expf(v))))"),
    Pair(
        "sigmoid_triton", reference("return torch.sigmoid(x)", "[torch.randn(7, 61)]"), TRITON,
        (("1.0 / (1.0 + tl.exp(-v))", "1.0 / (1.03 + tl.exp(-v))"),), COARSE, style="triton",
    ),
    Pair(
        "square_numba", reference("return x * x", "[torch.randn(5, 61)]"), NUMBA,
        (("x[i] * x[i]", "x[i] * x[i - 1]"),), COARSE, style="numba",
    ),
]  # fmt: skip
