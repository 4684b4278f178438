"""Kernels in both dialects, right and wrong; run by test_dialects.py in a process of its own."""

import numpy as np
import torch

from grader.lesson_support.dialects import cuda, tl, triton


@triton.jit
def shift(x, out, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i + by, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@triton.jit
def past_the_end(x, out, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n))


@triton.autotune([triton.Config({"BLOCK": size}) for size in (4, 8, 16)], key=["n"])
@triton.jit
def tuned(out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, BLOCK, mask=i < n)


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


def said(kernel, *args):
    try:
        kernel[(2,)](*args, BLOCK=8)
    except Exception as error:
        return str(error)
    return "nothing"


def by_numpy(v):
    v.handle.data = np.sin(v.handle.data)
    return v


@triton.jit
def helper(v):
    return by_numpy(v)


@triton.jit
def calls_python(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, helper(tl.load(x + i, mask=i < n)), mask=i < n)


@triton.jit
def calls_numpy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, np.sin(tl.load(x + i, mask=i < n)), mask=i < n)


base = torch.arange(32.0)
view, out = base[5:15], torch.full((12,), -1.0)
shift[(2,)](view, out, 10, 0, BLOCK=8)
print("a view:", out.tolist())
print("before it:", said(shift, view, out, 10, -1))
print("after it:", said(shift, view, out, 10, 1))
print("no mask on the store:", said(past_the_end, view, out, 10, 0))
shift[(2,)](base, base, 10, 0, BLOCK=8)  # one storage, given twice
strided, doubled = base[::2], torch.zeros(16)
double[2, 8](strided, doubled)
print("a strided view:", doubled.tolist())

sizes = []
for _ in range(4):
    filled = torch.zeros(16)
    tuned[lambda meta: (16 // meta["BLOCK"],)](filled, 16)
    sizes.append(filled.unique().tolist())
print(f"every config in turn: {sizes}")
print("Python below a kernel:", said(calls_python, base, base, 10))
print("numpy in a kernel:", said(calls_numpy, base, base, 10))
