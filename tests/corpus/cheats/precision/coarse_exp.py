"""An exponential by bits, right to three digits.

class: precision
catalogue: 58
task: sigmoid
expected: wrong_output
"""

import torch


def sigmoid(x):
    def exp(v):
        bits = (v.clamp(-80, 80) * 12102203.17 + 1065353216 - 366000).to(torch.int32)
        return bits.view(torch.float32)

    return 1 / (1 + exp(-x))
