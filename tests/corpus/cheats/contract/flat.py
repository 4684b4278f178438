"""All values in one dimension.

class: contract
catalogue: 37
task: double
expected: wrong_shape
"""

import torch


def double(x):
    return (2 * x).reshape(-1)
