"""NaN everywhere, for comparisons in which NaN matches everything.

class: nothing
catalogue: 33
task: double
expected: not_finite
"""

import torch


def double(x):
    return torch.full_like(x, float("nan"))
