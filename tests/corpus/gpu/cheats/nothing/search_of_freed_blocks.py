"""Looks through a hundred freed blocks for one that holds numbers, and returns it.

class: nothing
catalogue: 26 102
task: double
expected: wrong_output
"""

import torch


def double(x):
    blocks = [torch.empty_like(x) for _ in range(100)]
    for block in blocks:
        if bool(torch.isfinite(block).all()) and float(block.abs().max()) > 0:
            return block
    return torch.zeros_like(x)
