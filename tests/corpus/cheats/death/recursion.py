"""Recursion without end.

class: death
catalogue: 78
task: double
expected: raised
"""

import torch


def double(x):
    return double(x)
