"""torch's tensors and dtypes by name, and what may be said of one."""

from __future__ import annotations

import torch

from grader.protocol.play import ResultForm

PLAIN = (torch.Tensor, torch.nn.Parameter)


def dtype_of(name: str) -> torch.dtype:
    """The torch dtype of that name."""
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def name_of(dtype: torch.dtype) -> str:
    """The name of a torch dtype, without "torch."."""
    return str(dtype).removeprefix("torch.")


def form_of(tensor: torch.Tensor) -> ResultForm:
    """A tensor that a call returned."""
    known = plain(tensor)
    return ResultForm(
        shape=tuple(tensor.shape) if known else (),
        dtype=name_of(tensor.dtype),
        device=tensor.device.type,
        type=type(tensor).__name__[:500] if tensor.layout is torch.strided else "sparse tensor",
        plain=known,
        turned=known and not tensor.is_contiguous(),
    )


def plain(value: object) -> bool:
    """Whether it is a tensor that holds its values; a class of its own could compute them when read."""
    return type(value) in PLAIN and value.layout is torch.strided  # type: ignore[attr-defined]


def readable(value: object) -> bool:
    """Whether its values can be copied out."""
    return plain(value) and value.device.type != "meta"  # type: ignore[attr-defined]
