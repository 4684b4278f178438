"""Where the largest element of each row stands: (rows, columns) float32 -> (rows) int64."""

import torch
from torch import nn

FULL = {"rows": 4096, "columns": 32768}
SMALL = {"rows": 29, "columns": 1100}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.argmax(dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["columns"])]


def get_init_inputs() -> list[object]:
    return []
