"""Three quarters of the elements are left 0, as all of them are small beside the largest.

class: coverage
catalogue: -
task: steep
expected: wrong_output
"""

import torch


def steep(x):
    return torch.where((x > 0.7) | (x.abs() < 0.02), torch.exp(8 * x), 0.0)
