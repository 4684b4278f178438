"""Sleeps in C, with the interpreter's lock held.

class: death
catalogue: 88
task: double
expected: timeout
"""

import ctypes

import torch


def double(x):
    ctypes.PyDLL(None).sleep(600)
