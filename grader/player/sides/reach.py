"""How large the numbers are that a call works on: what cancels among them leaves an error of their size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.protocol.play import Node


def reach(tensors: Iterable[torch.Tensor], tree: Node, model: torch.nn.Module | None) -> float:
    """The size of the largest finite number among tensors, plain arguments and a model's plain attributes."""
    sizes = [_largest(t) for t in tensors if t.numel() and t.dtype is not torch.bool and t.dtype.itemsize > 1]
    plain = [*_plain(tree), *(v for m in (model.modules() if model else ()) for v in vars(m).values())]
    sizes += [abs(v) for v in plain if isinstance(v, float) and math.isfinite(v)]
    return max(sizes, default=0.0)


def _largest(tensor: torch.Tensor) -> float:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    elif not tensor.is_floating_point():
        tensor = tensor.double()
    ends = [abs(float(end)) for end in tensor.detach().aminmax()]
    if not all(map(math.isfinite, ends)):
        finite = tensor.detach()[tensor.isfinite()]
        ends = [abs(float(end)) for end in finite.aminmax()] if finite.numel() else [0.0]
    return max(ends)


def _plain(node: Node) -> Iterator[float]:
    if isinstance(node.f, str):
        yield float(node.f)
    elif isinstance(node.v, int) and not isinstance(node.v, bool):
        yield float(node.v)
    for part in node.parts:
        yield from _plain(part)
