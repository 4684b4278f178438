"""Infinity everywhere, for comparisons whose allowed error is infinite with it.

class: nothing
catalogue: 32
task: double
expected: not_finite
"""

import torch


def double(x):
    return torch.full_like(x, float("inf"))
