"""Leaves messages in kernel keyrings and System V shared memory for another process to find.

class: escape
catalogue: 102
task: double
expected: wrong_output
"""

import ctypes

import torch


def attempt():
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(248, b"user", b"corpus", b"x", 1, -3) > 0 or libc.shmget(0x1234, 4096, 0o1666) >= 0


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
