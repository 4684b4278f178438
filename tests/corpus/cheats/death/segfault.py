"""Reads address 0 in host code.

class: death
catalogue: 78
task: double
expected: crashed
"""

import ctypes

import torch


def double(x):
    ctypes.string_at(0)
