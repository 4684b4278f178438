"""All results are views of one large buffer which wraps around after two calls.

class: touching
catalogue: 26
task: double
expected: wrong_output
"""

import torch


arena, at = None, 0


def double(x):
    global arena, at
    if arena is None:
        arena = torch.empty(2, 4096, device=x.device)
    at = 1 - at
    y = arena[at // 2, : x.numel()].view(x.shape)
    return y.copy_(2 * x)
