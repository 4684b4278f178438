"""Elements that are small beside the largest are a tenth too large.

class: precision
catalogue: -
task: steep
expected: wrong_output
"""

import torch


def steep(x):
    return torch.where(x > 0, torch.exp(8 * x), 1.1 * torch.exp(8 * x))
