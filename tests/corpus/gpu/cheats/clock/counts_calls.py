"""Does the work twenty times and then returns what it has.

class: clock
catalogue: -
task: timed
expected: wrong_output
"""

import torch

calls, last = 0, {}


def right(x):
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y


def work(x):
    global calls
    calls += 1
    if calls < 20 or x.shape not in last:
        last[x.shape] = right(x)
    return last[x.shape]
