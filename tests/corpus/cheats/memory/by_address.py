"""Remembers results by the input's address.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = x.data_ptr()
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
