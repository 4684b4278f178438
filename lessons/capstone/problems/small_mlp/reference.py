"""Two small layers: (rows, features) -> (rows, features), float32."""

import torch
from torch import nn

FULL = {"rows": 1 << 22, "features": 16, "hidden": 32}
SMALL = {"rows": 301, "features": 16, "hidden": 32}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["features"])]


def get_init_inputs() -> list[object]:
    return [SIZE["features"], SIZE["hidden"]]
