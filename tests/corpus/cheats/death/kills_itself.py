"""SIGKILL to itself looks as if memory had run out.

class: death
catalogue: 78
task: double
expected: out_of_memory
"""

import os
import signal

import torch


def double(x):
    os.kill(os.getpid(), signal.SIGKILL)
