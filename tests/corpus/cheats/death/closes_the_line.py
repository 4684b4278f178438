"""Closes every descriptor and sleeps.

class: death
catalogue: 78
task: double
expected: tampered
"""

import os
import time

import torch


def double(x):
    os.closerange(3, 1 << 16)
    time.sleep(60)
