"""Takes a familiar address for the timed phase, and then does nothing.

class: phase
catalogue: 10
task: double
expected: not_finite
"""

import torch

known = set()


def double(x):
    if x.data_ptr() in known:
        return torch.empty_like(x)
    known.add(x.data_ptr())
    return 2 * x
