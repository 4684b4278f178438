"""Nested values as data and back (:class:`grader.protocol.play.Node`); their tensors in a list beside it."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import torch

from grader.player.tensors import dtype_of, name_of
from grader.protocol.arena import ALIGN
from grader.protocol.play import InputForm, Node, plain_node


def encode(value: Any, tensors: list[torch.Tensor]) -> Node:
    """``value`` as data; its tensors are appended to ``tensors``."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return Node(t=len(tensors) - 1)
    if isinstance(value, list):
        return Node(l=tuple(encode(v, tensors) for v in value))
    if isinstance(value, tuple):
        return Node(u=tuple(encode(v, tensors) for v in value))
    if isinstance(value, dict):
        return Node(d=tuple((encode(k, []), encode(v, tensors)) for k, v in value.items()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return encode({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, tensors)
    if isinstance(value, torch.dtype):
        return Node(dtype=name_of(value))
    if isinstance(value, torch.device):
        return Node(device=value.type)
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return encode(value.item(), tensors)
    return plain_node(value)


def decode(node: Node, tensors: list[torch.Tensor]) -> Any:
    """What :func:`encode` made into data, with these tensors in its places."""
    kind, inside = node.kind, getattr(node, node.kind)
    if kind == "t":
        return tensors[inside]
    if kind == "v":
        return inside
    if kind == "f":
        return float(inside)
    if kind == "l":
        return [decode(v, tensors) for v in inside]
    if kind == "u":
        return tuple(decode(v, tensors) for v in inside)
    if kind == "d":
        return {decode(k, []): decode(v, tensors) for k, v in inside}
    if kind == "dtype":
        return dtype_of(inside)
    if kind == "device":
        return torch.device(inside)
    raise TypeError(f"a {inside} cannot be passed on")


def mapped(value: Any, change: Any) -> Any:
    """The same value with ``change`` applied to each tensor in it."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, list):
        return [mapped(v, change) for v in value]
    if isinstance(value, tuple):
        items = [mapped(v, change) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {k: mapped(v, change) for k, v in value.items()}
    return value


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """In double precision, if it is a floating-point or complex tensor; others as they are."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def span(tensor: torch.Tensor) -> int:
    """Elements of storage that the tensor reaches over, from its first to its last."""
    if not tensor.numel():
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))


def ahead(tensor: torch.Tensor) -> int:
    """Elements before the first in its storage, as far as they decide how the tensor is aligned."""
    return int(tensor.storage_offset()) % (ALIGN // tensor.element_size())


def form(tensor: torch.Tensor, device: Literal["cuda", "cpu"] = "cuda") -> InputForm:
    """How an input lies in memory; ``device`` is where it is meant to be."""
    before = ahead(tensor)
    return InputForm(
        tuple(tensor.shape),
        tuple(tensor.stride()),
        name_of(tensor.dtype),
        before + span(tensor),
        before,
        device,
    )
