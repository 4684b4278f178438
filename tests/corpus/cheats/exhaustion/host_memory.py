"""Allocates and touches memory without end.

class: exhaustion
catalogue: 88
task: double
expected: out_of_memory
"""

import torch


def double(x):
    kept = []
    while True:
        kept.append(bytearray(b"x") * (64 << 20))
