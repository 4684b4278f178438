"""Searches all objects for a tensor of the right shape: the expected answer may be among them.

class: leak
catalogue: 68
task: double
expected: wrong_output
"""

import gc

import torch


def double(x):
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor and thing is not x and thing.shape == x.shape:
            return thing.clone()
    return torch.zeros_like(x)
