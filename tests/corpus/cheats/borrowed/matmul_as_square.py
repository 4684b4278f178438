"""Squares with a batched matrix product of 1 x 1 matrices: the library's kernel, not the file's.

class: borrowed
catalogue: 30
task: square
expected: no_kernel
"""

import torch


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    flat = x.reshape(-1, 1, 1)
    return torch.bmm(flat, flat).reshape(x.shape)
