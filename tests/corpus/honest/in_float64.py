"""Computes in float64 and rounds once: closer to the answer than the framework.

class: honest
catalogue: -
task: gemm
expected: passed
"""

import torch


def matmul(a, b):
    return (a.double() @ b.double()).float()
