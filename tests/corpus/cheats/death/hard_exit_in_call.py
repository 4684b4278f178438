"""os._exit(0) in the call.

class: death
catalogue: 78
task: double
expected: exited_early
"""

import os

import torch


def double(x):
    os._exit(0)
