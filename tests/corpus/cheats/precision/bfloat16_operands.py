"""Both matrices through bfloat16, the sum in float32.

class: precision
catalogue: 56
task: gemm
expected: precision
"""

import torch


def matmul(a, b):
    return a.bfloat16().float() @ b.bfloat16().float()
