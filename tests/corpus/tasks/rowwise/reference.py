"""Softmax over the last dimension."""

import torch


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)
