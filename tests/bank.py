"""Wrong kernels, made from the solutions by replacing text: each is a mistake that a student could make.

A mutant is a name and pairs of (text in the solution, text instead); each text must occur exactly once. A
variant is the same for something unusual that is right. ``tests/test_mutants.py`` grades them all.
"""

# ruff: noqa: E501 - texts of kernels, which must stay as they are

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.lessons import find

Edits = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """The mutants and right variants of one lesson's solution."""

    lesson: str
    mutants: dict[str, Edits]
    variants: dict[str, Edits]

    def text(self, name: str) -> str:
        """The solution with the edits of that name."""
        edits = (self.mutants | self.variants)[name]
        text = find(self.lesson).solution.read_text()
        for old, new in edits:
            if text.count(old) != 1:
                raise ValueError(f"{self.lesson}, {name}: {old!r} is {text.count(old)} times in the solution")
            text = text.replace(old, new)
        return text

    def write(self, name: str, folder: Path) -> Path:
        """The same as a file. One name for all: what does not differ is compiled once."""
        path = folder / "mutant.py"
        path.write_text(self.text(name))
        return path


HELLO = Bank(
    "01",
    {
        "another greeting": (('return "Hello from C++"', 'return "Hello from C"'),),
        "greeting not bound": (('        "hello_world": "Return a greeting from C++.",\n', ""),),
        "shift left out": (("return x * scale + shift", "return x * scale"),),
        "scale left out": (("return x * scale + shift", "return x + shift"),),
        "shift before scale": (("return x * scale + shift", "return (x + shift) * scale"),),
        "names exchanged": (("double scale, double shift) {\n", "double shift, double scale) {\n"),),
        "arguments exchanged": (("scale_shift(x, scale, shift)", "scale_shift(x, shift, scale)"),),
        "through float": (("return x * scale + shift", "return x.to(torch::kFloat) * scale + shift"),),
        "through half": (
            ("return x * scale + shift", "return (x.to(torch::kHalf) * scale + shift).to(x.scalar_type())"),
        ),
        "identity": (("return x * scale + shift", "return x"),),
        "constant": (("return x * scale + shift", "return torch::zeros_like(x)"),),
        "input changed": (
            (
                "return x * scale + shift",
                "torch::Tensor y = x;\n    y.mul_(scale).add_(shift);\n    return y.clone()",
            ),
        ),
        "first row only": (
            ("return x * scale + shift", "return x.narrow(0, 0, x.size(0) / 2) * scale + shift"),
        ),
        "nan removed": (("return x * scale + shift", "return torch::nan_to_num(x * scale + shift)"),),
        "whole numbers only": (("double scale, double shift) {\n", "int64_t scale, int64_t shift) {\n"),),
    },
    {
        "added first": (("return x * scale + shift", "return shift + scale * x"),),
        "add with alpha": (("return x * scale + shift", "return torch::full_like(x, shift) + x * scale"),),
    },
)

_SQUARE = "    out[i] = in[i] * in[i];\n"
SQUARE = Bank(
    "03",
    {
        "local row": (("static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y", "threadIdx.y"),),
        "local column": (("static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x", "threadIdx.x"),),
        "guard one too far in rows": (("row >= rows", "row > rows"),),
        "guard one too far in columns": (("col >= cols", "col > cols"),),
        "no guard": (("    if (row >= rows || col >= cols) return;\n", ""),),
        "guard of columns only": (("row >= rows || col >= cols", "col >= cols"),),
        "guards joined by and": (("row >= rows || col >= cols", "row >= rows && col >= cols"),),
        "stride of rows": (("row * cols + col", "row * rows + col"),),
        "x and y exchanged": (
            ("blockIdx.y) * blockDim.y + threadIdx.y", "blockIdx.x) * blockDim.x + threadIdx.x_"),
            ("blockIdx.x) * blockDim.x + threadIdx.x;", "blockIdx.y) * blockDim.y + threadIdx.y;"),
            ("threadIdx.x_", "threadIdx.x"),
        ),
        "grid rounded down in columns": (("(cols + block.x - 1) / block.x", "cols / block.x"),),
        "grid rounded down in rows": (("(rows + block.y - 1) / block.y", "rows / block.y"),),
        "grid exchanged": (
            (
                "dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y)",
                "dim3 grid((rows + block.x - 1) / block.x, (cols + block.y - 1) / block.y)",
            ),
        ),
        "one block left out": ((_SQUARE, "    if (blockIdx.x == 1) return;\n" + _SQUARE),),
        "half inside": (
            (_SQUARE, "    out[i] = __half2float(__hmul(__float2half(in[i]), __float2half(in[i])));\n"),
            ("#include <torch/extension.h>", "#include <cuda_fp16.h>\n#include <torch/extension.h>"),
        ),
        "identity": ((_SQUARE, "    out[i] = in[i];\n"),),
        "constant": ((_SQUARE, "    out[i] = 0.0f;\n"),),
        "absolute value": ((_SQUARE, "    out[i] = fabsf(in[i]);\n"),),
        "output added to": ((_SQUARE, "    out[i] += in[i] * in[i];\n"),),
        "nothing written": ((_SQUARE, "    if (in[i] > 1e30f && rows < 0) out[i] = 0.0f;\n"),),
        "input changed": (
            ("const float* in,", "float* in,"),
            (_SQUARE, "    in[i] = in[i] * in[i];\n    out[i] = in[i];\n"),
        ),
        "stale output": (
            ("torch::Tensor out = torch::empty_like(x);", "static torch::Tensor out = torch::empty_like(x);"),
        ),
        "neighbour written too": ((_SQUARE, _SQUARE + "    if (i + 1 < rows * cols) out[i + 1] = 0.0f;\n"),),
        "not made contiguous": (("    x = x.contiguous();\n", ""),),
        "no check of the device": (
            (
                '    TORCH_CHECK(x.is_cuda(), "square_matrix: x is on ", x.device(), ", not on a CUDA device");\n',
                "",
            ),
        ),
        "no check of the dimensions": (
            (
                '    TORCH_CHECK(x.dim() == 2, "square_matrix: x must have two dimensions, rows and columns");\n',
                "    if (x.dim() != 2) return x;\n",
            ),
        ),
        "empty launched": (("    if (x.numel() == 0) return out;\n", ""),),
    },
    {
        "column by column": (("row * cols + col", "col * rows + row"),),
        "blocks of 32 x 8": (("dim3 block(16, 16)", "dim3 block(32, 8)"),),
        "by pow": ((_SQUARE, "    const float v = in[i];\n    out[i] = __fmul_rn(v, v);\n"),),
        "guard turned round": (
            (
                "    if (row >= rows || col >= cols) return;\n",
                "    if (!(row < rows && col < cols)) return;\n",
            ),
        ),
    },
)

_FUSED = "    return sum < 0.0f ? 0.0f : sum;"
_COMMENT = "  // not fmaxf(sum, 0.0f): that turns NaN into 0"
_ROW = "    if (i < n) out[i] = bias_relu_one(x[i], bias[i % cols]);\n"
_CALL = "        return extension.bias_relu(self.gemm(x), self.bias)\n"
FUSED = Bank(
    "07",
    {
        "bias left out": (("value + bias;", "value;"),),
        "bias taken away": (("value + bias;", "value - bias;"),),
        "relu left out": ((_FUSED + _COMMENT, "    return sum;"),),
        "relu before bias": (
            ("value + bias;", "value;"),
            (_FUSED + _COMMENT, "    return (sum < 0.0f ? 0.0f : sum) + bias;"),
        ),
        "leaky": ((_FUSED + _COMMENT, "    return sum < 0.0f ? 0.01f * sum : sum;"),),
        "fmaxf": ((_FUSED + _COMMENT, "    return fmaxf(sum, 0.0f);"),),
        "absolute value": ((_FUSED + _COMMENT, "    return fabsf(sum);"),),
        "local index": (
            (
                "    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;\n" + _ROW,
                "    const int64_t i = threadIdx.x;\n" + _ROW,
            ),
        ),
        "guard one too far": (("if (i < n) out[i] = bias_relu_one", "if (i <= n) out[i] = bias_relu_one"),),
        "no guard": (("if (i < n) out[i] = bias_relu_one", "out[i] = bias_relu_one"),),
        "guard of float4 one too far": (("if (i >= n4) return;", "if (i > n4) return;"),),
        "no guard of float4": (("    if (i >= n4) return;\n", ""),),
        "row for column": (("bias[i % cols]);", "bias[i / cols]);"),),
        "first bias only": (("bias[i % cols]);", "bias[0]);"),),
        "cols for cols4": (("bias[i % cols4]", "bias[i % (4 * cols4)]"),),
        "one of four forgotten": (("bias_relu_one(v.w, b.w)", "v.w + b.w"),),
        "two of four exchanged": (("bias_relu_one(v.x, b.x)", "bias_relu_one(v.x, b.y)"),),
        "grid rounded down": (("(n / vec + threads - 1) / threads", "n / vec / threads"),),
        "one block left out": ((_ROW, "    if (blockIdx.x == 1) return;\n" + _ROW),),
        "float4 for all rows": (("cols % 4 == 0 && aligned16(x) && aligned16(bias) ? 4 : 1", "4"),),
        "half inside": (
            ("value + bias;", "__half2float(__hadd(__float2half(value), __float2half(bias)));"),
            ("#include <torch/extension.h>", "#include <cuda_fp16.h>\n#include <torch/extension.h>"),
        ),
        "constant": ((_FUSED + _COMMENT, "    return 0.0f;"),),
        "product changed in place": (("torch::Tensor out = torch::empty_like(x);", "torch::Tensor out = bias;"),),
        "stale output": (
            ("torch::Tensor out = torch::empty_like(x);", "static torch::Tensor out = torch::empty_like(x);"),
        ),
        "empty launched": (("    if (n == 0) return out;\n", ""),),
        "input changed": ((_CALL, "        x.mul_(0.5)\n        return extension.bias_relu(2 * self.gemm(x), self.bias)\n"),),
        "by torch": ((_CALL, "        return torch.relu(self.gemm(x) + self.bias)\n"),),
        "stale weight": (
            (_CALL, "        self.kept = getattr(self, 'kept', None)\n"
             "        self.kept = self.gemm.weight.detach().clone() if self.kept is None else self.kept\n"
             "        return extension.bias_relu(nn.functional.linear(x, self.kept), self.bias)\n"),
        ),
    },
    {
        "128 threads": (("threads = 256, vec", "threads = 128, vec"),),
        "never float4": (("cols % 4 == 0 && aligned16(x) && aligned16(bias) ? 4 : 1", "1"),),
        "bias first": (("value + bias;", "bias + value;"),),
    },
)  # fmt: skip

_ONE = "    return scale / (1.0f + expf(-x)) + x;  // expf(1000) is infinity, and scale / infinity is the 0 we want\n"
_TAIL = "    if (i < n % 4) out[n - 1 - i] = sigmoid_residual_one(x[n - 1 - i], scale);\n"
_FORWARD = "        return extension.sigmoid_residual(self.gemm(x), self.scaling_factor)\n"
SIGMOID = Bank(
    "08",
    {
        "residual left out": ((_ONE, "    return scale / (1.0f + expf(-x));\n"),),
        "sigmoid left out": ((_ONE, "    return scale * x + x;\n"),),
        "scale left out": ((_ONE, "    return 1.0f / (1.0f + expf(-x)) + x;\n"),),
        "scale on the residual": ((_ONE, "    return 1.0f / (1.0f + expf(-x)) + scale * x;\n"),),
        "scale is two": ((_ONE, "    return 2.0f / (1.0f + expf(-x)) + x;\n"),),
        "sign of exp": ((_ONE, "    return scale / (1.0f + expf(x)) + x;\n"),),
        "overflow": ((_ONE, "    return scale * expf(x) / (1.0f + expf(x)) + x;\n"),),
        "clamped": ((_ONE, "    return scale / (1.0f + expf(-fminf(fmaxf(x, -4.0f), 4.0f))) + x;\n"),),
        "straight line": ((_ONE, "    return scale * fminf(fmaxf(0.5f + 0.25f * x, 0.0f), 1.0f) + x;\n"),),
        "taylor": ((_ONE, "    return scale * (0.5f + x / 4.0f - x * x * x / 48.0f) + x;\n"),),
        "half inside": (
            (_ONE, "    return scale / (1.0f + __half2float(__float2half(expf(-x)))) + x;\n"),
            ("#include <torch/extension.h>", "#include <cuda_fp16.h>\n#include <torch/extension.h>"),
        ),
        "bfloat16 result": (
            (_ONE, "    return __bfloat162float(__float2bfloat16(scale / (1.0f + expf(-x)))) + x;\n"),
            ("#include <torch/extension.h>", "#include <cuda_bf16.h>\n#include <torch/extension.h>"),
        ),
        "constant": ((_ONE, "    return 1.0f;\n"),),
        "identity": ((_ONE, "    return x;\n"),),
        "tail left out": ((_TAIL, ""),),
        "tail one short": ((_TAIL, _TAIL.replace("i < n % 4", "i + 1 < n % 4")),),
        "tail from the front": ((_TAIL, _TAIL.replace("n - 1 - i", "i")),),
        "guard of float4 one too far": (("if (i < n / 4) {", "if (i <= n / 4) {"),),
        "no guard of float4": (("if (i < n / 4) {", "if (true) {"),),
        "one of four forgotten": (("sigmoid_residual_one(v.w, scale)", "v.w"),),
        "two of four exchanged": (
            ("sigmoid_residual_one(v.x, scale), sigmoid_residual_one(v.y, scale)",
             "sigmoid_residual_one(v.y, scale), sigmoid_residual_one(v.x, scale)"),
        ),
        "grid rounded down": (("((n + 3) / 4 + threads - 1) / threads", "(n / 4) / threads"),),
        "one block left out": (("if (i < n / 4) {", "if (i < n / 4 && blockIdx.x != 1) {"),),
        "factor as a whole number": (("static_cast<float>(scale);", "static_cast<int>(scale);"),),
        "not contiguous, not checked": (("    x = x.contiguous();\n", "    x = x.flatten().narrow(0, 0, x.numel() / 2);\n"),),
        "stale output": (
            ("torch::Tensor out = torch::empty_like(x);", "static torch::Tensor out = torch::empty_like(x);"),
        ),
        "empty launched": (("    if (n == 0) return out;\n", ""),),
        "input changed": ((_FORWARD, "        y = self.gemm(x)\n        x.zero_()\n        return extension.sigmoid_residual(y, self.scaling_factor)\n"),),
        "by torch": ((_FORWARD, "        y = self.gemm(x)\n        return torch.sigmoid(y) * self.scaling_factor + y\n"),),
        "factor of the first model": (
            (_FORWARD, "        ModelNew.first = getattr(ModelNew, 'first', self.scaling_factor)\n"
             "        return extension.sigmoid_residual(self.gemm(x), ModelNew.first)\n"),
        ),
    },
    {
        "64 threads": (("n = x.numel(), threads = 256;", "n = x.numel(), threads = 64;"),),
        "never float4": (("if (reinterpret_cast<uintptr_t>(in) % 16 == 0) {", "if (false) {"),),
        "two branches": (
            (_ONE, "    const float e = expf(-fabsf(x));\n"
             "    return scale * (x >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e)) + x;\n"),
        ),
    },
)  # fmt: skip

BANKS = {bank.lesson: bank for bank in (HELLO, SQUARE, FUSED, SIGMOID)}
