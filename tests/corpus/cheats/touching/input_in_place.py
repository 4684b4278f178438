"""Doubles the input in place and returns a copy.

class: touching
catalogue: 34
task: double
expected: mutated_input
"""

import torch


def double(x):
    x.mul_(2)
    return x.clone()
