"""The transpose, with its shape.

class: contract
catalogue: 37
task: double
expected: wrong_shape
"""

import torch


def double(x):
    return (2 * x).t().contiguous()
