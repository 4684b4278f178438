"""The logarithm of the sum of exponentials, of each row."""

import torch


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(x, dim=1)
