"""The input itself.

class: nothing
catalogue: 24
task: double
expected: wrong_output
"""

import torch


def double(x):
    return x
