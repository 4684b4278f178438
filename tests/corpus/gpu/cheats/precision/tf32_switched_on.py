"""Switches TF32 on for the library's matrix product.

class: precision
catalogue: 55
task: gemm
expected: precision
"""

import torch


torch.backends.cuda.matmul.allow_tf32 = True


def matmul(a, b):
    return a @ b
