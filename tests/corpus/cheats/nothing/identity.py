"""A copy of the input.

class: nothing
catalogue: 24
task: double
expected: wrong_output
"""

import torch


def double(x):
    return x.clone()
