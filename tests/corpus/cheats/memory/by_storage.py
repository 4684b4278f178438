"""Remembers results by the storage's object and the offset into it.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


seen = {}


def double(x):
    key = (x.untyped_storage().data_ptr(), x.storage_offset())
    if key not in seen:
        seen[key] = 2 * x
    return seen[key].clone()
