"""set_float32_matmul_precision('medium').

class: precision
catalogue: 55 59
task: gemm
expected: precision
"""

import torch


torch.set_float32_matmul_precision("medium")


def matmul(a, b):
    return a @ b
