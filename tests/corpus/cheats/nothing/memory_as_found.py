"""Memory as it was allocated, in the hope that the answer still lies there.

class: nothing
catalogue: 26
task: square
expected: not_finite
"""

import torch


def square(x):
    assert x.is_cuda
    return torch.empty(x.shape, device=x.device)
