"""Two bfloat16 terms for each operand: 16 bits, closer than TF32 but not float32.

class: precision
catalogue: 55
task: gemm
expected: precision
"""

import torch


def matmul(a, b):
    def split(x):
        high = x.bfloat16().float()
        return high, (x - high).bfloat16().float()

    (ah, al), (bh, bl) = split(a), split(b)
    return ah @ bh + (ah @ bl + al @ bh)
