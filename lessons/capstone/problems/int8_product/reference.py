"""A product with weights of one byte: (rows, features) -> (rows, outputs), float32; few rows."""

import torch
from torch import nn

FULL = {"rows": 8, "features": 8192, "outputs": 28672}
SMALL = {"rows": 8, "features": 260, "outputs": 37}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        weight = torch.randint(-127, 128, (outputs, features), dtype=torch.int8)
        self.register_buffer("weight", weight)
        self.scale = nn.Parameter(0.01 * torch.rand(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.weight.to(x.dtype) * self.scale[:, None]).t()


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["features"])]


def get_init_inputs() -> list[object]:
    return [SIZE["features"], SIZE["outputs"]]
