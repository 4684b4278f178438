"""Remembers results by shape.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = x.shape
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
