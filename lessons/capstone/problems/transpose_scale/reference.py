"""A matrix scaled by column, and transposed: (rows, columns) -> (columns, rows), float32."""

import torch
from torch import nn

FULL = {"rows": 8192, "columns": 8192}
SMALL = {"rows": 75, "columns": 53}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.scale).t().contiguous()


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["columns"])]


def get_init_inputs() -> list[object]:
    return [SIZE["columns"]]
