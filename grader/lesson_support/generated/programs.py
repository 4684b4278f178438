"""Small programs to generate code for: those recorded for lesson 11, and chains of operations drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

Shape = tuple[int, ...]
Two = tuple[torch.Tensor, torch.Tensor]
M, K, N = 1024, 8192, 8192


@dataclass(frozen=True, slots=True)
class Program:
    """A function of tensors of the ``shapes`` (float32, on one GPU), and its name."""

    name: str
    run: Callable[..., object]
    shapes: tuple[Shape, ...]


def _lesson_07(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.relu(functional.linear(x, weight) + bias)


def _lesson_08(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    y = functional.linear(x, weight, bias)
    return torch.sigmoid(y) * 2.0 + y


def _encoder(
    x: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    up: torch.Tensor,
    down: torch.Tensor,
) -> torch.Tensor:
    h = functional.layer_norm(x, x.shape[-1:])
    scores = torch.softmax((h @ queries) @ (h @ keys).t() * 0.125, dim=-1)
    a = x + scores @ (h @ values)
    return a + functional.gelu(functional.layer_norm(a, a.shape[-1:]) @ up) @ down


def _gated(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    h = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    return x + torch.tanh((functional.silu(h @ gate) * (h @ up)) @ down)


def _mixer(x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor) -> Two:
    y = x + torch.relu(rows @ x + bias)
    z = torch.sigmoid(y @ columns) * y
    return torch.softmax(z, dim=-1), z.abs().amax(0)


RECORDED = (
    Program("lesson 07", _lesson_07, ((M, K), (N, K), (N,))),
    Program("lesson 08", _lesson_08, ((M, K), (N, K), (N,))),
    Program("encoder", _encoder, ((1024, 64), (64, 64), (64, 64), (64, 64), (64, 256), (256, 64))),
    Program("gated", _gated, ((512, 768), (768, 2048), (768, 2048), (2048, 768))),
    Program("mixer", _mixer, ((640, 384), (640, 640), (384, 384), (384,))),
)

UNARY: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    torch.relu,
    torch.sigmoid,
    torch.tanh,
    torch.exp,
    torch.sin,
    torch.cos,
    torch.abs,
    torch.neg,
    torch.rsqrt,
)
SIDE = 256


def drawn(seed: int) -> Program:
    """A chain of element-wise operations, cut by matrix products and closed by a sum over rows or not."""
    rng = random.Random(seed)  # noqa: S311 (nothing secret: which operations stand in an example)
    stretches = [rng.sample(range(len(UNARY)), rng.randint(2, 4)) for _ in range(rng.randint(2, 3))]
    scales = [round(rng.uniform(0.5, 3.0), 2) for _ in stretches]
    summed = rng.random() < 0.5

    def run(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        for stretch, scale in zip(stretches, scales, strict=True):
            x = x @ weight
            for index in stretch:
                x = UNARY[index](x)
            x = x * scale + bias
        return x.sum(1) if summed else x

    return Program(f"drawn {seed}", run, ((SIDE, SIDE), (SIDE, SIDE), (SIDE,)))
