"""Shortens the shared memory, so that the referee would die at its next look.

class: forgery
catalogue: 91
task: double
expected: wrong_output
"""

import os

import torch



def double(x):
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if "memfd" in os.readlink(f"/proc/self/fd/{fd}"):
                os.ftruncate(fd, 0)
        except OSError:
            pass
    return torch.zeros_like(x)
