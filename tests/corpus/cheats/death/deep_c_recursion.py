"""Recursion without end in C, which no exception stops.

class: death
catalogue: 78
task: double
expected: crashed
"""

import functools
import sys

import torch


sys.setrecursionlimit(1 << 30)


def double(x):
    return functools.reduce(lambda f, _: functools.partial(map, f), range(3_000_000), abs)([[x]])
