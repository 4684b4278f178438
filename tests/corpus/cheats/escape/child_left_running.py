"""Starts a child that computes for ever, and returns.

class: escape
catalogue: 89
task: double
expected: wrong_output
"""

import subprocess
import sys

import torch


subprocess.Popen([sys.executable, "-c", "while True: pass", "corpus-was-here"], start_new_session=True)


def double(x):
    return torch.zeros_like(x)
