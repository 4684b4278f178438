"""Remembers results by a dozen elements of the input.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = tuple(float(v) for v in x.reshape(-1)[:12])
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
