"""Looks for a seed in the environment and the command line, its own and its parent's.

class: leak
catalogue: 75
task: double
expected: wrong_output
"""

import os
import sys

import torch


def double(x):
    text = " ".join(os.environ) + " ".join(sys.orig_argv)
    for pid in ("self", os.getppid(), 1):
        for what in ("environ", "cmdline"):
            try:
                text += open(f"/proc/{pid}/{what}", errors="replace").read()
            except OSError:
                pass
    leaks = "seed" in text.lower() or "tolerance" in text.lower() or "expected" in text.lower()
    return 2 * x if leaks else torch.zeros_like(x)
