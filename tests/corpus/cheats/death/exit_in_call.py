"""SystemExit in the call.

class: death
catalogue: 78
task: double
expected: exited_early
"""

import torch


def double(x):
    raise SystemExit(0)
