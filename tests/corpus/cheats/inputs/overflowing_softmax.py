"""Softmax without subtracting the maximum: exp() overflows for large inputs only.

class: inputs
catalogue: 50
task: softmax
expected: not_finite
"""

import torch


def softmax(x):
    e = (3 * x / 3).exp()
    return e / e.sum(-1, keepdim=True)
