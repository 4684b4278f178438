"""The work hangs on a finaliser, which runs when the collector gets to it.

class: late
catalogue: 3
task: double
expected: not_finite
"""

import gc

import torch

gc.disable()


class Later:
    def __init__(self, x, out):
        self.x, self.out, self.me = x, out, self  # a cycle: only the collector frees it

    def __del__(self):
        self.out.copy_(2 * self.x)


def double(x):
    out = torch.empty_like(x)
    Later(x, out)
    return out
