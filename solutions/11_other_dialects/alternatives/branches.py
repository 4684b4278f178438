"""Answers of another student; a sigmoid of two branches, a grid that is a function, early returns."""

import math

import torch

from grader.lesson_support.dialects import cuda, tl, triton

BLOCK = 128
STUDENT = "Grace Hopper"
ANSWERS = {"generated": 4, "library": 2, "fused": 2, "loads": 2, "allocated": 11.534336}


@triton.jit
def triton_kernel(x, out, scale, n, BLOCK: tl.constexpr):
    first = tl.program_id(axis=0) * BLOCK
    places = first + tl.arange(0, BLOCK)
    v = tl.load(x + places, mask=places < n, other=0.0)
    small = tl.exp(-tl.abs(v))
    sigmoid = tl.where(v >= 0, 1 / (1 + small), small / (1 + small))
    tl.store(out + places, sigmoid * scale + v, mask=places < n)


@cuda.jit
def numba_kernel(x, out, scale):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.shape[0]:
        return
    small = math.exp(-abs(x[i]))
    out[i] = x[i] + scale * (1 / (1 + small) if x[i] >= 0 else small / (1 + small))


def by_triton(x, scale):
    x, n = x.contiguous(), x.numel()
    out = torch.empty_like(x)
    if n == 0:
        return out
    triton_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, scale, n, BLOCK)
    return out


def by_numba(x, scale):
    flat = x.contiguous().flatten()
    out = torch.empty_like(flat)
    if len(flat):
        numba_kernel[(-(-len(flat) // BLOCK),), (BLOCK,)](flat, out, scale)
    return out.reshape(x.shape)


def fused(code):
    found = []
    for part in code.split("Original ATen: [")[1:]:
        operations, rest = part.split("]", 1)
        before_next_comment = rest.split("# Topologically Sorted", 1)[0]
        runs = [w.split(".run(")[0] for w in before_next_comment.split() if ".run(" in w]
        found += [[kernel, operations.split(", ")] for kernel in runs]
    return found
