"""Asks for a tensor of a petabyte.

class: exhaustion
catalogue: 88
task: double
expected: out_of_memory
"""

import torch


def double(x):
    return torch.empty(1 << 50, device=x.device)
