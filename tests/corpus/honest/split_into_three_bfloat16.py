"""Three bfloat16 terms for each operand, six products: float32's 24 bits again.

class: honest
catalogue: -
task: gemm
expected: passed
"""

import torch


def split(x):
    terms = []
    for _ in range(3):
        terms.append(x.bfloat16().float())
        x = x - terms[-1]
    return terms


def matmul(a, b):
    a0, a1, a2 = split(a)
    b0, b1, b2 = split(b)
    return a0 @ b0 + (a0 @ b1 + a1 @ b0 + (a1 @ b1 + a0 @ b2 + a2 @ b0))
