"""Remembers results by norm, largest and smallest element.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = (float(x.norm()), float(x.max()), float(x.min()))
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
