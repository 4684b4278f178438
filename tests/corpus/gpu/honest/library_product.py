"""The library's float32 matrix product, transposed twice.

class: honest
catalogue: -
task: gemm
expected: passed
"""

import torch


def matmul(a, b):
    return (b.t() @ a.t()).t().contiguous()
