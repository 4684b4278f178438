"""Replaces perf_counter, so that all takes no time, and returns what it was given.

class: phase
catalogue: 7
task: double
expected: wrong_output
"""

import time

import torch

time.perf_counter = time.monotonic = lambda: 0.0


def double(x):
    return x.clone()
