"""Honest fill-ins of lesson 07's starter, each its own way, and copies of one of them in disguise."""
# ruff: noqa: E501 - a way to write something is a string

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.lessons import find

if TYPE_CHECKING:
    import random

STARTER = find("07").exercise.read_text("utf-8")
ONES = (
    "value += bias;\n    return value < 0.0f ? 0.0f : value;",
    "float {s} = value + bias;\n    return {s} > 0.0f || isnan({s}) ? {s} : 0.0f;",
    "const float {s} = value + bias;\n    if ({s} < 0.0f) {{ return 0.0f; }}\n    return {s};",
    "return value + bias < 0 ? 0 : value + bias;",
    "float {s} = bias + value;\n    {s} = ({s} < 0.f) ? 0.f : {s};\n    return {s};",
)
INDICES = (
    "int64_t {i} = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;",
    "const int64_t {i} = threadIdx.x + static_cast<int64_t>(blockDim.x) * blockIdx.x;",
    "const long {i} = (long)blockIdx.x * (long)blockDim.x + (long)threadIdx.x;",
    "auto {i} = blockDim.x * (int64_t)blockIdx.x;\n    {i} += threadIdx.x;",
)
BODIES = (
    "if ({i} >= n) return;\n    out[{i}] = bias_relu_one(x[{i}], bias[{i} % cols]);",
    "if ({i} < n) {{\n        int64_t {c} = {i} % cols;\n        out[{i}] = bias_relu_one(x[{i}], bias[{c}]);\n    }}",
    "if ({i} >= n) {{\n        return;\n    }}\n    const int64_t {r} = {i} / cols;\n    const float {b} = bias[{i} - {r} * cols];\n    out[{i}] = bias_relu_one(x[{i}], {b});",
    "for (int64_t {k} = {i}; {k} < n; {k} += (int64_t)gridDim.x * blockDim.x)\n        out[{k}] = bias_relu_one(x[{k}], bias[{k} % cols]);",
    "float {v} = 0.0f;\n    if ({i} < n) {{ {v} = bias_relu_one(x[{i}], bias[{i} % cols]); out[{i}] = {v}; }}",
)
SIZES = (
    "const int {t} = {size};\n    const int64_t {g} = (n + {t} - 1) / {t};",
    "dim3 {t}({size});\n    dim3 {g}((n - 1) / {size} + 1);",
    "constexpr int {t} = {size};\n    unsigned {g} = static_cast<unsigned>((n + {t} - 1) / {t});",
    "int {t} = {size}, {g} = (int)((n + {size} - 1) / {size});",
    "int64_t {g} = n / {size};\n    if (n % {size} != 0) {g} += 1;\n    const int {t} = {size};",
)
LAUNCHES = (
    "auto {q} = at::cuda::getCurrentCUDAStream();\n    bias_relu_kernel<<<{g}, {t}, 0, {q}>>>(x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), n, cols);",
    "bias_relu_kernel<<<{g}, {t}, 0, at::cuda::getCurrentCUDAStream()>>>(\n        x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), n, cols);",
    "const float* {p} = x.data_ptr<float>();\n    const float* {b} = bias.data_ptr<float>();\n    float* {o} = out.data_ptr<float>();\n    cudaStream_t {q} = at::cuda::getCurrentCUDAStream();\n    bias_relu_kernel<<<{g}, {t}, 0, {q}>>>({p}, {b}, {o}, n, cols);",
    "auto* {o} = out.data_ptr<float>();\n    bias_relu_kernel<<<{g}, {t}, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(x.data_ptr<float>(), bias.data_ptr<float>(), {o}, n, cols);",
)
CHECKS = (
    "C10_CUDA_KERNEL_LAUNCH_CHECK();", "AT_CUDA_CHECK(cudaGetLastError());",
    "cudaError_t {e} = cudaGetLastError();\n    TORCH_CHECK({e} == cudaSuccess, \"launch: \", cudaGetErrorString({e}));",
)  # fmt: skip
FORWARDS = (
    "return extension.bias_relu(self.gemm(x), self.bias)",
    "{y} = self.gemm(x)\n        return extension.bias_relu({y}, self.bias)",
    "{y} = self.gemm(x)\n        {z} = extension.bias_relu({y}, self.bias.contiguous())\n        return {z}",
    "{y} = self.gemm(x)\n        assert {y}.is_cuda\n        return extension.bias_relu({y}.contiguous(), self.bias)",
)
WORDS = {
    "s": ("sum", "v", "y", "biased", "t"), "i": ("i", "idx", "index", "tid", "gid"), "c": ("col", "c", "column"),
    "r": ("row", "r"), "b": ("b", "bp", "bias_value", "bb"), "k": ("k", "j", "e"), "v": ("v", "val"),
    "t": ("threads", "block", "block_size", "t"), "g": ("blocks", "grid", "num_blocks", "g"),
    "q": ("stream", "s", "current"), "p": ("xp", "x_ptr", "in"), "o": ("op", "out_ptr", "o"),
    "e": ("err", "error"), "y": ("y", "h", "product"), "z": ("z", "result"),
}  # fmt: skip


def honest(draw: random.Random) -> str:
    """The starter filled in, one way of each kind chosen by chance, with names of one's own."""
    names = {key: draw.choice(words) for key, words in WORDS.items()}
    names["size"] = draw.choice(["64", "128", "256", "512", "1024"])

    def one(kinds: tuple[str, ...]) -> str:
        return draw.choice(kinds).format(**names)

    text = STARTER.replace(
        "return value;  // TODO 1: add the bias, then ReLU. What should become of NaN?", one(ONES)
    )
    text = re.sub(r"// TODO 2:[^\n]*", lambda _: f"{one(INDICES)}\n    {one(BODIES)}", text)
    text = re.sub(
        r"// TODO 3:[^\n]*", lambda _: f"{one(SIZES)}\n    {one(LAUNCHES)}\n    {one(CHECKS)}", text
    )
    return re.sub(r"return self.gemm\(x\)  # TODO 4[^\n]*", lambda _: one(FORWARDS), text)


def copy(text: str, draw: random.Random) -> str:
    """The same work: other comments, other names, other layout, another block size, a line more; or unchanged."""
    if draw.random() < 0.7:
        text = f"# {draw.random()}\n{text}".replace(
            "    out", f"    // step {draw.randrange(99)}\n    out", 1
        )
    if draw.random() < 0.5:
        for word in {w for words in WORDS.values() for w in words if len(w) > 2} | {"bias_relu_one"}:
            text = re.sub(rf"\b{word}\b", f"{word}_{draw.choice('abcdef')}", text)
    if draw.random() < 0.3:
        text = re.sub(r"\b(64|128|256|512|1024)\b", draw.choice(["96", "160", "192"]), text)
    if draw.random() < 0.3:
        text = text.replace(
            "    const int64_t n =", "    bool busy = true;\n    (void)busy;\n    const int64_t n ="
        )
    return text
