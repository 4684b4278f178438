"""What lesson 12's functions must return, in plain PyTorch."""

import torch


def product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.linear(x, weight)


def gemm_epilogue(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor
) -> torch.Tensor:
    return torch.relu(torch.nn.functional.linear(x, weight, bias)) + residual
