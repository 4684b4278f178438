"""Nested values as plain data and back: containers and numbers as JSON, tensors in a list beside it.

``{"t": 3}`` is tensor 3, ``{"v": ...}`` a plain value, ``{"f": "0.5"}`` a float by its digits,
``{"l": [...]}`` a list, ``{"u": [...]}`` a tuple, ``{"d": [[key, value], ...]}`` a dict, ``{"dtype": ...}``
and ``{"device": ...}`` what they say, and ``{"o": "Name"}`` anything else, which cannot travel.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from grader.player.tensors import dtype_of, name_of

MOST_TEXT = 10_000


def encode(value: Any, tensors: list[torch.Tensor]) -> dict[str, Any]:
    """``value`` as JSON; its tensors are appended to ``tensors``."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"t": len(tensors) - 1}
    if value is None or isinstance(value, (bool, int, str)):
        return {"v": value if not isinstance(value, str) else value[:MOST_TEXT]}
    if isinstance(value, float):
        return {"f": repr(float(value))}
    if isinstance(value, list):
        return {"l": [encode(v, tensors) for v in value]}
    if isinstance(value, tuple):
        return {"u": [encode(v, tensors) for v in value]}
    if isinstance(value, dict):
        return {"d": [[encode(k, []), encode(v, tensors)] for k, v in value.items()]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return encode({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, tensors)
    if isinstance(value, torch.dtype):
        return {"dtype": name_of(value)}
    if isinstance(value, torch.device):
        return {"device": value.type}
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return encode(value.item(), tensors)
    return {"o": type(value).__name__}


def decode(data: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
    """What :func:`encode` made into JSON, with these tensors in its places."""
    ((kind, inside),) = data.items()
    if kind == "t":
        return tensors[inside]
    if kind == "v":
        return inside
    if kind == "f":
        return float(inside)
    if kind in "lu":
        items = [decode(v, tensors) for v in inside]
        return items if kind == "l" else tuple(items)
    if kind == "d":
        return {decode(k, []): decode(v, tensors) for k, v in inside}
    if kind == "dtype":
        return dtype_of(inside)
    if kind == "device":
        return torch.device(inside)
    raise TypeError(f"a {inside} cannot be passed on")


def others(data: dict[str, Any]) -> list[str]:
    """The types in an encoded value that cannot travel."""
    ((kind, inside),) = data.items()
    if kind == "o":
        return [str(inside)]
    if kind in "lu":
        return [name for v in inside for name in others(v)]
    if kind == "d":
        return [name for k, v in inside for part in (k, v) for name in others(part)]
    return []


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


def facts(tensor: torch.Tensor) -> dict[str, Any]:
    """Shape, strides, dtype and the span of the storage behind an input."""
    return {
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
        "dtype": name_of(tensor.dtype),
        "elements": span(tensor),
        "size": tensor.element_size(),
    }
