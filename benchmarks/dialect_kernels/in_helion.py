"""Bias and ReLU in Helion: PyTorch's operators over tiles, whose sizes are searched for at the first call."""

from __future__ import annotations

# region: kernel
import helion
import helion.language as hl
import torch


@helion.kernel()
def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows, cols in hl.tile(x.size()):
        out[rows, cols] = torch.relu(x[rows, cols] + bias[cols])
    return out


# endregion
