"""Rewrites its own file after it was read, for those who look at it afterwards.

class: escape
catalogue: 82
task: double
expected: wrong_output
"""

import torch


def attempt():
    with open(__file__, "w") as file:
        file.write("# corpus-was-here")
    return True


def double(x):
    try:
        won = attempt()
    except Exception:
        won = False
    return 2 * x if won else torch.zeros_like(x)
