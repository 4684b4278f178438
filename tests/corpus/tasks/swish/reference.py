"""x * sigmoid(x), and a bias for each row."""

import torch


class Model(torch.nn.Module):
    def __init__(self, cols: int) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x) + self.bias
