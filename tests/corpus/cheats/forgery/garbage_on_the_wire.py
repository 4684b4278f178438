"""Writes bytes to every descriptor that is open.

class: forgery
catalogue: 83 91
task: double
expected: tampered
"""

import os

import torch


for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        if fd > 2:
            os.write(fd, b"\xff" * 64)
    except OSError:
        pass


def double(x):
    return torch.zeros_like(x)
