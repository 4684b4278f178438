"""The reference's expression under autocast to bfloat16.

class: precision
catalogue: 57
task: gemm
expected: precision
"""

import torch


def matmul(a, b):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return (a @ b).float()
