"""bfloat16 tensor cores, cast back.

class: precision
catalogue: 56
task: gemm
expected: precision
"""

import torch


def matmul(a, b):
    return (a.bfloat16() @ b.bfloat16()).float()
