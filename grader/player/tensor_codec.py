"""Tensors as JSON values, for the few small ones that travel outside the arenas: shape, strides and bytes."""

from __future__ import annotations

import base64
import math
from typing import Any, TypeAlias, TypedDict, final

import torch

from grader.player.tensors import dtype_of, name_of

MOST_BYTES = 1 << 20


@final
class WrappedValue(TypedDict):
    """A plain value."""

    value: bool | int | float | str | None


@final
class WrappedNumber(TypedDict):
    """A number that JSON has no word for: NaN, an infinity."""

    number: str


@final
class WrappedList(TypedDict):
    """A list or tuple."""

    list: list[Wrapped]


@final
class WrappedTensor(TypedDict):
    """A tensor's storage (in base64), and how it lies there; ``grad``: whether it requires one."""

    tensor: str
    dtype: str
    shape: list[int]
    strides: list[int]
    start: int
    device: str
    grad: bool


Wrapped: TypeAlias = WrappedValue | WrappedNumber | WrappedList | WrappedTensor


def wrap(value: Any) -> Wrapped:
    """A tensor with all of its storage (so that a view stays one), or a plain value as it is.

    Raises ValueError for a storage of more than a mebibyte, TypeError for what is neither.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        if isinstance(value, float) and not math.isfinite(value):
            return {"number": str(value)}
        return {"value": value}
    if isinstance(value, (tuple, list)):
        return {"list": [wrap(v) for v in value]}
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"a {type(value).__name__} cannot be passed to the kernel under test")
    storage = value.untyped_storage().nbytes()
    if storage > MOST_BYTES:
        raise ValueError(f"a test input of {storage:,} bytes is too large; stay below {MOST_BYTES:,}")
    flat = value.detach().as_strided((storage // value.element_size(),), (1,), 0).cpu()
    return {
        "tensor": base64.b64encode(
            flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        ).decode(),
        "dtype": name_of(value.dtype),
        "shape": list(value.shape),
        "strides": list(value.stride()),
        "start": int(value.storage_offset()),
        "device": value.device.type,
        "grad": value.requires_grad,
    }


def unwrap(parcel: Wrapped) -> Any:
    """What :func:`wrap` made a parcel of."""
    if "value" in parcel:
        return parcel["value"]
    if "number" in parcel:
        return float(parcel["number"])
    if "list" in parcel:
        return [unwrap(v) for v in parcel["list"]]
    data = bytearray(base64.b64decode(parcel["tensor"]))
    dtype = dtype_of(parcel["dtype"])
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    tensor = flat.to(parcel["device"]).as_strided(parcel["shape"], parcel["strides"], parcel["start"])
    return tensor.requires_grad_() if parcel["grad"] and tensor.is_floating_point() else tensor


def refill(tensor: torch.Tensor, parcel: WrappedTensor) -> None:
    """Write the parcel's storage over that of ``tensor``: what a call did to its argument."""
    fresh = unwrap({**parcel, "grad": False})
    with torch.no_grad():
        tensor.copy_(fresh.to(tensor.device))
