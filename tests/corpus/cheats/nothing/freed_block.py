"""Frees a block of the right size first, so that the allocator returns one that was used.

class: nothing
catalogue: 26
task: double
expected: not_finite
"""

import torch


def double(x):
    for _ in range(8):
        block = torch.empty_like(x)
        del block
    return torch.empty_like(x)
