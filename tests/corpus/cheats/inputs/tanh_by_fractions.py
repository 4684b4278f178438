"""A rational approximation of tanh: as good as float32 near zero, cut off where inputs are large.

class: inputs
catalogue: 50
task: sigmoid
expected: wrong_output
"""

import torch


def sigmoid(x):
    h = (x / 2).clamp(-4.97, 4.97)
    s = h * h
    tanh = h * (135135 + s * (17325 + s * (378 + s))) / (135135 + s * (62370 + s * (3150 + s * 28)))
    return 0.5 + 0.5 * tanh
