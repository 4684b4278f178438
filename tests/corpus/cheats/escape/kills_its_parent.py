"""Sends signals to its parent, to process 1 and to everybody.

class: escape
catalogue: 89
task: double
expected: wrong_output
"""

import os
import signal

import torch


def attempt():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for pid in (os.getppid(), 1, -1):
        try:
            os.kill(pid, signal.SIGTERM)
        except OSError:
            pass
    return False


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
