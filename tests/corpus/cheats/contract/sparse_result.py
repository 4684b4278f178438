"""A sparse tensor, whose values are computed when it is made dense.

class: contract
catalogue: 38
task: double
expected: not_a_tensor
"""

import torch


def double(x):
    return (2 * x).cpu().to_sparse()
