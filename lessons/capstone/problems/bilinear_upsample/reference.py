"""Images of twice the height and width: (images, channels, high, wide), float32."""

import torch
from torch import nn

FULL = {"images": 32, "channels": 64, "high": 128, "wide": 128}
SMALL = {"images": 2, "channels": 3, "high": 11, "wide": 9}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(SIZE["images"], SIZE["channels"], SIZE["high"], SIZE["wide"])]


def get_init_inputs() -> list[object]:
    return []
