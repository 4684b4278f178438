"""The formula, for torch.compile to fuse."""

import torch


@torch.compile
def softmax(x: torch.Tensor) -> torch.Tensor:
    powers = torch.exp(x - x.max(dim=1, keepdim=True).values)
    return powers / powers.sum(dim=1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softmax(x)
