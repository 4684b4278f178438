"""Waits for the device after its work: what the host does next is not hidden behind a kernel.

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
    torch.cuda.synchronize()
    return y
