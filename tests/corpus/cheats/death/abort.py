"""abort(), as a failed assertion in C++ does.

class: death
catalogue: 78
task: double
expected: crashed
"""

import os

import torch


def double(x):
    os.abort()
