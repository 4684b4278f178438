"""Remembers results by shape and sum of the input.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = (x.shape, round(float(x.double().sum()), 6))
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
