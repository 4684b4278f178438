"""Hangs the result on the input tensor as an attribute.

class: memory
catalogue: 60
task: double
expected: wrong_output
"""

import torch


def double(x):
    if not hasattr(x, "answer"):
        x.answer = 2 * x
    return x.answer.clone()
