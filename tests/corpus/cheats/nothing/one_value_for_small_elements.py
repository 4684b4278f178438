"""One value stands in for all that is small beside the largest element.

class: nothing
catalogue: -
task: steep
expected: wrong_output
"""

import torch


def steep(x):
    return torch.where((x > -0.4) | (x.abs() < 0.02), torch.exp(8 * x), 0.5)
