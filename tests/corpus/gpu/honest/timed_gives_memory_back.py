"""Collects garbage and gives free memory back before its work, as some do who fear to run out of it.

class: honest
catalogue: -
task: timed
expected: passed
"""

import gc

import torch


def work(x):
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y
