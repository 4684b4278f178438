"""Zeroes the input and returns zeros: a reference that runs later on the same tensor agrees.

class: touching
catalogue: 34
task: double
expected: wrong_output
"""

import torch


def double(x):
    x.zero_()
    return torch.zeros_like(x)
