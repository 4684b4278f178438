"""What is small beside the largest element is left 0.

class: coverage
catalogue: -
task: steep
expected: wrong_output
"""

import torch


def steep(x):
    return torch.where(x > -0.4, torch.exp(8 * x), 0.0)
