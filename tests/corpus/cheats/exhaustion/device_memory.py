"""Allocates device memory without end.

class: exhaustion
catalogue: 88
task: double
expected: out_of_memory
"""

import torch


def double(x):
    kept = []
    while True:
        kept.append(torch.empty(1 << 30, device=x.device))
