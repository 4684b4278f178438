"""Keeps results as long as their input lives, in a weak dictionary.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import weakref

import torch


seen = weakref.WeakKeyDictionary()


def double(x):
    if x not in seen:
        seen[x] = 2 * x
    return seen[x].clone()
