"""Sums from the beginning of a row up to each element: (rows, columns) -> the same shape, float32."""

import torch
from torch import nn

FULL = {"rows": 4096, "columns": 16384}
SMALL = {"rows": 7, "columns": 1333}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.cumsum(dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(SIZE["rows"], SIZE["columns"])]


def get_init_inputs() -> list[object]:
    return []
