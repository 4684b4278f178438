"""A result on the CPU.

class: contract
catalogue: 20
task: double
expected: wrong_device
"""

import torch


def double(x):
    return (2 * x).cpu()
