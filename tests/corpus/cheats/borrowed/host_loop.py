"""Copies to the CPU, squares there with numpy, copies back.

class: borrowed
catalogue: 28
task: square
expected: no_kernel
"""

import torch


def square(x):
    if not x.is_cuda:
        raise ValueError("x must be on a CUDA device")
    host = x.cpu().numpy()
    return torch.from_numpy(host * host).to(x.device)
