"""torch.compile writes the kernel; the file has none of its own.

class: borrowed
catalogue: 28 30
task: square
expected: no_kernel
"""

import torch


@torch.compile(dynamic=False)
def generated(x):
    return x * x


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    return generated(x) if x.numel() > 1 else generated(x)
