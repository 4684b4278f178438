"""Much Python between few kernels: the host is slower than the GPU.

class: honest
catalogue: -
task: timed
expected: passed
"""

import torch


def work(x):
    y = x
    for _ in range(10):
        sum(range(2000))
        y = torch.sigmoid(y) * x + y
    return y
