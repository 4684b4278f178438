"""A Taylor polynomial for the sigmoid, good for small inputs.

class: precision
catalogue: 50
task: sigmoid
expected: wrong_output
"""

import torch


def sigmoid(x):
    return 0.5 + x / 4 - x**3 / 48 + x**5 / 480
