"""Softmax of scores, keys left out: (batch, queries, keys) and (batch, keys) bool -> the first's shape."""

import torch
from torch import nn

FULL = {"batch": 16, "queries": 2048, "keys": 2048}
SMALL = {"batch": 3, "queries": 11, "keys": 300}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, scores: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        return scores.masked_fill(hidden[:, None, :], float("-inf")).softmax(dim=-1)


def get_inputs() -> list[torch.Tensor]:
    batch, queries, keys = SIZE["batch"], SIZE["queries"], SIZE["keys"]
    return [torch.randn(batch, queries, keys), torch.rand(batch, keys) < 0.2]


def get_init_inputs() -> list[object]:
    return []
