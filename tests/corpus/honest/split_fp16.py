"""Two scaled half-precision terms for each operand, 22 bits, and three products.

class: honest
catalogue: -
task: gemm
expected: passed
"""

import torch


def split(x):
    scale = 2.0 ** torch.floor(torch.log2(x.abs().max().clamp_min(1e-30)))
    x = x / scale
    high = x.half().float()
    return high, ((x - high) * 2048).half().float() / 2048, scale


def matmul(a, b):
    ah, al, s = split(a)
    bh, bl, t = split(b)
    return (ah @ bh + (ah @ bl + al @ bh)) * (s * t)
