"""The mean of each window of a row: (rows, columns) -> (rows, columns - window + 1), float32."""

import torch
from torch import nn

FULL = {"rows": 4096, "columns": 16384, "window": 33}
SMALL = {"rows": 9, "columns": 777, "window": 33}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.avg_pool1d(x, self.window, stride=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["columns"])]


def get_init_inputs() -> list[object]:
    return [SIZE["window"]]
