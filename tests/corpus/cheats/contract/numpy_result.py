"""A numpy array.

class: contract
catalogue: 38
task: double
expected: not_a_tensor
"""

import torch


def double(x):
    return (2 * x).cpu().numpy()
