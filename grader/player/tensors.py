"""Between arenas and torch: storage bytes in, contiguous results out."""

from __future__ import annotations

from typing import Any

import torch

from grader.protocol.arena import Arena

PLAIN = (torch.Tensor, torch.nn.Parameter)


def dtype_of(name: str) -> torch.dtype:
    """The torch dtype of that name."""
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def name_of(dtype: torch.dtype) -> str:
    """The name of a torch dtype, without "torch."."""
    return str(dtype).removeprefix("torch.")


def take(arena: Arena, slot: dict[str, Any], device: str, *, copied: bool = True) -> torch.Tensor:
    """A fresh tensor on ``device`` with the slot's storage, shape, strides and storage offset.

    Not ``copied``: on the CPU it is the arena's own memory, which the next request overwrites.
    """
    flat = _flat(arena, slot)
    storage = flat.clone().to(device) if copied else flat.to(device)
    return storage.as_strided(slot["shape"], slot["strides"], slot["start"])


def refill(tensor: torch.Tensor, arena: Arena, slot: dict[str, Any]) -> None:
    """Write the slot's storage into that of ``tensor``: same address, and the same version too.

    A kernel that writes to memory does not raise a tensor's version either.
    """
    storage_of(tensor.data, slot).copy_(_flat(arena, slot))


def _flat(arena: Arena, slot: dict[str, Any]) -> torch.Tensor:
    dtype = dtype_of(slot["dtype"])
    if not slot["elements"]:
        return torch.empty(0, dtype=dtype)
    return torch.frombuffer(arena.map, dtype=dtype, count=slot["elements"], offset=slot["at"])


def put(arena: Arena, at: int, tensor: torch.Tensor) -> None:
    """Copy a tensor's elements, in row-major order, to byte ``at`` of the arena."""
    if not tensor.numel():
        return
    target = torch.frombuffer(arena.map, dtype=tensor.dtype, count=tensor.numel(), offset=at)
    target.copy_(tensor.detach().reshape(-1))


def storage_of(tensor: torch.Tensor, slot: dict[str, Any]) -> torch.Tensor:
    """The whole storage behind an input, gaps of a view included, as a flat tensor."""
    return tensor.as_strided((slot["elements"],), (1,), 0)


def describe(value: object) -> dict[str, Any]:
    """What a call returned, as data: tensors by shape, dtype and device; small plain values as they are."""
    if isinstance(value, torch.Tensor):
        return {"kind": "tensors", "container": "tensor", "tensors": [_facts(value)]}
    if isinstance(value, (tuple, list)) and value and all(isinstance(v, torch.Tensor) for v in value):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": "tensors", "container": kind, "tensors": [_facts(v) for v in value]}
    if value is None or type(value) in (bool, int, str):
        return {"kind": "value", "value": value if not isinstance(value, str) else value[:10_000]}
    if type(value) is float:
        return {"kind": "value", "value": repr(value), "float": True}
    return {"kind": "other", "type": type(value).__name__}


def _facts(tensor: torch.Tensor) -> dict[str, Any]:
    known = plain(tensor)
    return {
        "shape": list(tensor.shape) if known else [],
        "dtype": name_of(tensor.dtype),
        "device": tensor.device.type,
        "type": type(tensor).__name__ if tensor.layout is torch.strided else "sparse tensor",
        "plain": known,
    }


def plain(value: object) -> bool:
    """Whether it is a tensor that holds its values; a class of its own could compute them when read."""
    return type(value) in PLAIN and value.layout is torch.strided  # type: ignore[attr-defined]


def readable(value: object) -> bool:
    """Whether its values can be copied out."""
    return plain(value) and value.device.type != "meta"  # type: ignore[attr-defined]
