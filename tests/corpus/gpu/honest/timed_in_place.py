"""The same steps in one buffer, timed.

class: honest
catalogue: -
task: timed
expected: passed
"""

import torch


def work(x):
    y = x.clone()
    for _ in range(10):
        y.add_(torch.sigmoid(y).mul_(x))
    return y
