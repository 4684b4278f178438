"""Wrong in every fourth call only, in the hope that a checker draws samples of the calls.

class: phase
catalogue: 11
task: double
expected: wrong_output
"""

import itertools

import torch

number = itertools.count(1)


def double(x):
    return x if next(number) % 4 == 0 else 2 * x
