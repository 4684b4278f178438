"""Both matrices through half precision, the sum in float32.

class: precision
catalogue: 56
task: gemm
expected: precision
"""

import torch


def matmul(a, b):
    return a.half().float() @ b.half().float()
