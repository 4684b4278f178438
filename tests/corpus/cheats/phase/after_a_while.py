"""Right during the warm-up, told by the clock; afterwards half of the work is skipped.

class: phase
catalogue: 10
task: double
expected: wrong_output
"""

import time

import torch

ends = time.perf_counter() + 0.002


def double(x):
    y = 2 * x
    if time.perf_counter() > ends:
        y[x.shape[0] // 2 :] = 0
    return y
