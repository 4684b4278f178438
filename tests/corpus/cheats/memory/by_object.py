"""Remembers results by the tensor object.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = id(x)
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
