"""A tensor without memory, on the device meta.

class: contract
catalogue: 38
task: double
expected: wrong_device
"""

import torch


def double(x):
    return torch.empty_like(x, device="meta")
