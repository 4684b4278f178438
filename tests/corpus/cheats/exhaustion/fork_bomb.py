"""Forks without end.

class: exhaustion
catalogue: 88
task: double
expected: crashed
"""

import os
import time

import torch


def double(x):
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)
