"""One half everywhere: the limit for small inputs.

class: nothing
catalogue: 24
task: sigmoid
expected: wrong_output
"""

import torch


def sigmoid(x):
    return torch.full_like(x, 0.5)
