"""Keeps results as long as their input lives, by weak references.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import weakref

import torch


seen = {}


def double(x):
    key = id(x)
    if key not in seen:
        seen[key] = 2 * x
        weakref.finalize(x, seen.pop, key)
    return seen[key].clone()
