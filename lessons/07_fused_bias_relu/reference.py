"""The model of lesson 07 in plain PyTorch, in KernelBench's file format (level 2, problem 76)."""

import torch
from torch import nn

BATCH, IN_FEATURES, OUT_FEATURES = 1024, 8192, 8192


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The two small operations: (..., columns) and (columns) -> (..., columns), float32."""
    return torch.relu(x + bias)


class Model(nn.Module):
    """Matrix product, bias, ReLU: (batch, in_features) -> (batch, out_features), float32."""

    def __init__(self, in_features: int, out_features: int, bias_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return bias_relu(self.gemm(x), self.bias)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs() -> list[object]:
    return [IN_FEATURES, OUT_FEATURES, (OUT_FEATURES,)]
