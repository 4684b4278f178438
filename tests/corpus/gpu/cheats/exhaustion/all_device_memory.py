"""Takes device memory until there is none.

class: exhaustion
catalogue: 88
task: double
expected: out_of_memory
"""

import torch


kept = []


def double(x):
    while True:
        kept.append(torch.empty(1 << 32, dtype=torch.uint8, device=x.device))
