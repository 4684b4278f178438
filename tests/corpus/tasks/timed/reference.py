"""A chain of element-wise steps, long enough to be worth cheating the clock for."""

import torch


def work(x: torch.Tensor) -> torch.Tensor:
    y = x
    for _ in range(10):
        y = torch.sigmoid(y) * x + y
    return y
