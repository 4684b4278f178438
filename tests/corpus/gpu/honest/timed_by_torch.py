"""The same steps as the reference, timed.

class: honest
catalogue: -
task: timed
expected: passed
"""

import torch


def work(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y
