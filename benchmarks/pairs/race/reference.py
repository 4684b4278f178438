"""Softmax over long rows: three candidates race for it (benchmarks/pairs_on_gpu.sh)."""

import torch

ROWS, COLUMNS = 4096, 4096


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(ROWS, COLUMNS)]


def get_init_inputs() -> list[object]:
    return []
