"""Replaces elapsed_time and synchronize of torch.cuda, and skips most of the work when timed.

class: clock
catalogue: -
task: timed
expected: wrong_output
"""

import torch

torch.cuda.Event.elapsed_time = lambda self, other: 1e-3
torch.cuda.synchronize = lambda *_: None


def work(x):
    y = x
    for _ in range(10 if x.numel() < 1 << 20 else 3):
        y = torch.sigmoid(y) * x + y
    return y
