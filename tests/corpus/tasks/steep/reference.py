"""A function whose values span many magnitudes."""

import torch


def steep(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(8 * x)
