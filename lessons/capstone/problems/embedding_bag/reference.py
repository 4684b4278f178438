"""The mean of some rows of a table: (bags, each) int64, no row twice -> (bags, features), float32."""

import torch
from torch import nn

FULL = {"rows": 1 << 20, "features": 64, "bags": 16384, "each": 32}
SMALL = {"rows": 500, "features": 40, "bags": 23, "each": 7}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, rows: int, features: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, features))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return nn.functional.embedding_bag(ids, self.table, mode="mean")


def get_inputs() -> list[torch.Tensor]:
    bags, each = SIZE["bags"], SIZE["each"]
    return [torch.randperm(SIZE["rows"])[: bags * each].view(bags, each)]


def get_init_inputs() -> list[object]:
    return [SIZE["rows"], SIZE["features"]]
