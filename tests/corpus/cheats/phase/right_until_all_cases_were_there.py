"""Is right until it has seen each shape of the task five times, then it returns zeros.

class: phase
catalogue: 2
task: double
expected: wrong_output
"""

import torch

seen = {(12, 20): 0, (7, 13): 0}


def double(x):
    shape = tuple(x.shape)
    seen[shape] = seen.get(shape, 0) + 1
    if min(seen.values()) >= 5 and sum(seen.values()) > 12:
        return torch.zeros_like(x)
    return 2 * x
