"""functools.lru_cache around the function: tensors are hashed by identity.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import functools

import torch


@functools.lru_cache(maxsize=None)
def cached(x):
    return 2 * x


def double(x):
    return cached(x).clone()
