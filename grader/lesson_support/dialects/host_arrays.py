"""Copies on the host of what a kernel is called with, and the way back."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import torch


def storage_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor like ``tensor``, of the same strides in a copy of its storage.

    The bytes are copied as they are, so memory that nobody has written keeps what it holds, and the checks of
    the CPU back end, which watch torch's copies, do not take this one for a use of it.
    """
    storage = tensor.untyped_storage()
    own = torch.empty(storage.nbytes(), dtype=torch.uint8)
    if storage.nbytes():
        if (
            tensor.device.type != "cpu" and "grader.backends.simt.runtime.device" not in sys.modules
        ):  # memory of a real GPU
            own.untyped_storage().copy_(storage)
        else:
            ctypes.memmove(own.data_ptr(), storage.data_ptr(), storage.nbytes())
    like = torch.empty(0, dtype=tensor.dtype)
    return like.set_(own.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())


class RecordedCalls:
    """The tensors of one kernel call: copied before it, and written back after it where they have changed.

    ``begun``: how many there were in this process.
    """

    begun = 0

    def __init__(self) -> None:
        RecordedCalls.begun += 1
        self._pairs: list[tuple[torch.Tensor, torch.Tensor, bytes]] = []

    def host(self, value: Any) -> Any:
        """``value``, or for a tensor its copy. Views of one storage share one copy."""
        if not isinstance(value, torch.Tensor):
            return value
        for device, host, _ in self._pairs:
            if device.untyped_storage().data_ptr() == value.untyped_storage().data_ptr():
                like = torch.empty(0, dtype=value.dtype)
                place = value.storage_offset(), value.shape, value.stride()
                return like.set_(host.untyped_storage(), *place)
        host = storage_copy(value.detach())
        self._pairs.append((value.detach(), host, _bytes(host)))
        return host

    def back(self) -> None:
        """Write what the kernel has changed to where it belongs."""
        for device, host, before in self._pairs:
            if _bytes(host) != before:
                device.untyped_storage().copy_(host.untyped_storage())


def _bytes(tensor: torch.Tensor) -> bytes:
    storage = tensor.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""
