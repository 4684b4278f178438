"""Registers the work for when the process ends.

class: late
catalogue: 4
task: double
expected: not_finite
"""

import atexit

import torch


def double(x):
    out = torch.empty_like(x)
    atexit.register(lambda: out.copy_(2 * x))
    return out
