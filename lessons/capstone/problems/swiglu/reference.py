"""A gated activation: (rows, 2 * columns) -> (rows, columns), float32."""

import torch
from torch import nn

FULL = {"rows": 8192, "columns": 8192}
SMALL = {"rows": 23, "columns": 173}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, value = x.chunk(2, dim=-1)
        return nn.functional.silu(gate) * value


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], 2 * SIZE["columns"])]


def get_init_inputs() -> list[object]:
    return []
