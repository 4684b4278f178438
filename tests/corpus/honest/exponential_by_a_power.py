"""The fourth power of the square of an exponential: each step rounds once more.

class: honest
catalogue: -
task: steep
expected: passed
"""

import torch


def steep(x):
    return (torch.exp(x) ** 2) ** 4
