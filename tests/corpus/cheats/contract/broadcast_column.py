"""A column, which a comparison may broadcast over the rows.

class: contract
catalogue: 37
task: double
expected: wrong_shape
"""

import torch


def double(x):
    return (2 * x)[:, :1]
