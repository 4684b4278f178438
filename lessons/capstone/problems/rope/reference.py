"""Rotary positions: (heads, length, features) and (length, features / 2) twice -> as the first, float32."""

import torch
from torch import nn

FULL = {"heads": 256, "length": 4096, "features": 64}
SMALL = {"heads": 3, "length": 45, "features": 34}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def get_inputs() -> list[torch.Tensor]:
    half = SIZE["features"] // 2
    speeds = 10000.0 ** (-torch.arange(half) / half)
    angles = torch.arange(SIZE["length"])[:, None] * speeds
    x = torch.randn(SIZE["heads"], SIZE["length"], SIZE["features"])
    return [x, torch.cos(angles), torch.sin(angles)]


def get_init_inputs() -> list[object]:
    return []
