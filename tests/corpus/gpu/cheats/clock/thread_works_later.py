"""A thread does the work after the call has returned.

class: clock
catalogue: -
task: timed
expected: wrong_output
"""

import threading

import torch


def right(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y


def work(x):
    if x.numel() < 1 << 20:
        return right(x)
    out = torch.empty_like(x)

    def later():
        with torch.no_grad():
            out.copy_(right(x))

    threading.Timer(0.002, later).start()
    return out
