"""The result of the call before, which has the right shape.

class: nothing
catalogue: 26
task: double
expected: wrong_output
"""

import torch


last = {}


def double(x):
    result = last.get(x.shape, torch.ones_like(x))
    last[x.shape] = 2 * x
    return result.clone()
