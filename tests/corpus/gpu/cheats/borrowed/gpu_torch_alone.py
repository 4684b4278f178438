"""torch squares the matrix on the GPU; there is no kernel.

class: borrowed
catalogue: 28
task: square
expected: no_kernel
"""

import torch


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    return x * x
