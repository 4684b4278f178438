"""Prints a gigabyte.

class: exhaustion
catalogue: 85
task: double
expected: wrong_output
"""

import os

import torch


def double(x):
    line = b"all tests passed " * 4096
    for _ in range((1 << 30) // len(line) // 8):
        os.write(1, line)
    return torch.zeros_like(x)
