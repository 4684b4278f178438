"""Draws what the inputs must be from the public seed, and returns the answer to that.

class: inputs
catalogue: 47
task: double
expected: wrong_output
"""

import torch


def double(x):
    torch.manual_seed(42)
    return 2 * torch.rand(x.shape).to(x.device)
