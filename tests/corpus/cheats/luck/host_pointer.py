"""Computes on the CPU and hands the CPU's tensor over as if it were the device's.

class: luck
catalogue: 41
task: double
expected: wrong_device
"""

import torch


def double(x):
    return torch.from_numpy(2 * x.cpu().numpy())
