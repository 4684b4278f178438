"""A kernel that does not end.

class: death
catalogue: 88
task: double
expected: timeout
"""

import torch


def double(x):
    torch.cuda._sleep(1 << 60)
    return 2 * x
