"""Works in every other large call and returns the last result in between.

class: clock
catalogue: -
task: timed
expected: wrong_output
"""

import torch

turn, last = 0, None


def right(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y


def work(x):
    global turn, last
    turn += 1
    if x.numel() < 1 << 20 or last is None or turn % 2:
        last = right(x)
    return last
