"""Announces a frame of four gigabytes.

class: forgery
catalogue: 83
task: double
expected: tampered
"""

import os

import torch


for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
            os.write(fd, b"\xff\xff\xff\xff")
    except OSError:
        pass


def double(x):
    return torch.zeros_like(x)
