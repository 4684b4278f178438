"""Returns memory as the caching allocator gives it: the answer may still lie there.

class: nothing
catalogue: 26
task: double
expected: not_finite
"""

import torch


def double(x):
    return torch.empty_like(x)
