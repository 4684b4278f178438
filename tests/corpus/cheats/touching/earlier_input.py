"""Keeps the tensors of earlier calls and zeroes them when they come again.

class: touching
catalogue: 35
task: double
expected: mutated_input
"""

import torch


before = []


def double(x):
    y = 2 * x
    for old in before:
        old.zero_()
    before.append(x)
    return y
