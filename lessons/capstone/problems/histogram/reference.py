"""How often each value occurs: (count) int32 below the number of bins -> (bins) int64."""

import torch
from torch import nn

FULL = {"count": 1 << 27, "bins": 256}
SMALL = {"count": 30011, "bins": 256}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, bins: int) -> None:
        super().__init__()
        self.bins = bins

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.bincount(values, minlength=self.bins)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, SIZE["bins"], (SIZE["count"],), dtype=torch.int32)]


def get_init_inputs() -> list[object]:
    return [SIZE["bins"]]
