"""Zeros where every expected value is near 0.001, below many graders' tolerance.

class: nothing
catalogue: 24 42
task: softmax
expected: wrong_output
"""

import torch


def softmax(x):
    return torch.zeros_like(x)
