"""A causal convolution of each channel by itself, and SiLU: (batch, channels, length), the same, float32."""

import torch
from torch import nn

FULL = {"batch": 8, "channels": 2048, "length": 4096, "taps": 4}
SMALL = {"batch": 2, "channels": 5, "length": 331, "taps": 4}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def __init__(self, channels: int, taps: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, taps, groups=channels, padding=taps - 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.conv(x)[..., : x.shape[-1]])


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["batch"], SIZE["channels"], SIZE["length"])]


def get_init_inputs() -> list[object]:
    return [SIZE["channels"], SIZE["taps"]]
