"""Softmax of rows as the formula says it, an operation after the other (benchmarks/softmax.py)."""

import torch

ROWS, COLUMNS = 8192, 8192


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        powers = torch.exp(x - x.max(dim=1, keepdim=True).values)
        return powers / powers.sum(dim=1, keepdim=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs() -> list[object]:
    return []
