"""A Triton kernel stores far outside: the context of its process is broken from then on.

class: death
catalogue: 105 41
task: double
expected: illegal_access
"""

import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x, y, n, far, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i + far, 2 * tl.load(x + i, i < n), i < n)


def double(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), 1 << 42, 256)
    return y
