"""What lesson 16's functions and its model must return, in plain PyTorch."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def by_rows(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return scaled_dot_product_attention(q, k, v)


def tiled(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return scaled_dot_product_attention(q, k, v)


def causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, past: int) -> torch.Tensor:
    seen = torch.ones(q.size(0), k.size(0), dtype=torch.bool, device=q.device).tril(min(past, k.size(0)))
    return scaled_dot_product_attention(q, k, v, attn_mask=seen)


class Model(torch.nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        # Some of PyTorch's own kernels read 16 bytes at a time, wherever a tensor begins.
        q, k, v = (t if t.data_ptr() % 16 == 0 else t.clone() for t in (q, k, v))
        return scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 16, 2048, 64) for _ in range(3)]


def get_init_inputs() -> list[object]:
    return []
