"""Group normalisation and SiLU: (images, channels, places) -> the same shape, float32."""

import torch
from torch import nn

FULL = {"images": 64, "groups": 32, "each": 8, "places": 4096}
SMALL = {"images": 3, "groups": 4, "each": 3, "places": 110}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, groups: int, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.norm(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["images"], SIZE["groups"] * SIZE["each"], SIZE["places"])]


def get_init_inputs() -> list[object]:
    return [SIZE["groups"], SIZE["groups"] * SIZE["each"]]
