"""An exponential whose denormal numbers are flushed to 0, as fast hardware does.

class: honest
catalogue: -
task: steep
expected: passed
"""

import torch


def steep(x):
    y = torch.exp(8 * x)
    return torch.where(y < 1.2e-38, 0.0, y)
