"""Half-precision tensor cores, cast back.

class: precision
catalogue: 56
task: gemm
expected: precision
"""

import torch


def matmul(a, b):
    s = a.abs().max()
    return (a / s).half().matmul((b / b.abs().max()).half()).float() * s * b.abs().max()
