"""The model of lesson 08 in plain PyTorch, in KernelBench's file format (level 2, problem 70)."""

import torch
from torch import nn

BATCH, INPUT_SIZE, HIDDEN_SIZE, SCALING_FACTOR = 1024, 8192, 8192, 2.0


def sigmoid_residual(x: torch.Tensor, scale: float) -> torch.Tensor:
    """The three small operations, element by element, float32."""
    return torch.sigmoid(x) * scale + x


class Model(nn.Module):
    """Linear layer t, then sigmoid(t) * scale + t: (batch, input_size) -> (batch, hidden_size), float32."""

    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sigmoid_residual(self.gemm(x), self.scaling_factor)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(BATCH, INPUT_SIZE)]


def get_init_inputs() -> list[object]:
    return [INPUT_SIZE, HIDDEN_SIZE, SCALING_FACTOR]
