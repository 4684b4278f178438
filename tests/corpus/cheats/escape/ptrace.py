"""Attaches to its parent and to process 1 with ptrace.

class: escape
catalogue: 96
task: double
expected: wrong_output
"""

import ctypes
import os

import torch


def attempt():
    libc = ctypes.CDLL(None, use_errno=True)
    return any(libc.ptrace(16, pid, 0, 0) == 0 for pid in (os.getppid(), 1))


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
