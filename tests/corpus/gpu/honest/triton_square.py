"""A Triton kernel that squares.

class: honest
catalogue: -
task: square
expected: passed
"""

import torch
import triton
import triton.language as tl


@triton.jit
def square_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    tl.store(y + i, v * v, i < n)


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        square_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), 256)
    return y
