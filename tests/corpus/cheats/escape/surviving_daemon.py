"""Leaves a process behind, in a session of its own, twice forked and deaf to signals.

class: escape
catalogue: 89
task: double
expected: wrong_output
"""

import os
import signal

import torch


if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        os.execvp("sleep", ["corpus-was-here", "300"])
    os._exit(0)


def double(x):
    return torch.zeros_like(x)
