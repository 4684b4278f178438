"""Answers of a third student; tl.sigmoid, a loop over a stride in numba, operations without their prefix."""

import math
import re

import torch

from grader.lesson_support.dialects import cuda, tl, triton

BLOCK = 512
STUDENT = "23-117"
ANSWERS = {"generated": 4, "library": 2, "fused": 5, "loads": 1, "allocated": 11.534336}


@triton.jit
def triton_kernel(x, out, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    tl.store(out + i, tl.sigmoid(v) * scale + v, i < n)


@cuda.jit
def numba_kernel(x, out, scale):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = scale * (0.5 * math.tanh(0.5 * x[i]) + 0.5) + x[i]


def blocks(x):
    return (x.numel() + BLOCK - 1) // BLOCK


def by_triton(x, scale):
    x = x.contiguous()
    out = torch.zeros_like(x)
    if blocks(x):
        triton_kernel[blocks(x),](x=x, out=out, scale=scale, n=x.numel(), BLOCK=BLOCK)
    return out


def by_numba(x, scale):
    x = x.contiguous()
    out = torch.zeros_like(x)
    if blocks(x):
        numba_kernel[blocks(x), BLOCK](x.reshape(-1), out.reshape(-1), scale)
    return out


def fused(code):
    call = code[code.index("def call(") :]
    pattern = r"Original ATen: \[([^\]]*)\]\n(?:(?!.*Original ATen).*\n)*?\s*(triton_\w+)\.run\("
    return [(m[2], m[1].replace("aten.", "").split(", ")) for m in re.finditer(pattern, call)]
