"""Remembers results by address and version counter, which a kernel's write does not raise.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = (x.data_ptr(), x._version, x.shape)
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
