"""Opens the parent's descriptors through /proc and writes a verdict to each.

class: escape
catalogue: 83
task: double
expected: wrong_output
"""

import os

import torch


def attempt():
    won = False
    for pid in (os.getppid(), 1):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                with open(f"/proc/{pid}/fd/{fd}", "wb", buffering=0) as pipe:
                    pipe.write(b"check: pass\n")
                    won = True
            except OSError:
                pass
    return won


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
