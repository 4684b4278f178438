"""What lesson 10's operator must return, in plain PyTorch."""

import torch


def sigmoid_residual(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.sigmoid(x) * scale + x
