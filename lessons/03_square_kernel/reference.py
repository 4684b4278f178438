"""What lesson 03's function must return, in plain PyTorch."""

import torch


def square_matrix(x: torch.Tensor) -> torch.Tensor:
    return x * x
