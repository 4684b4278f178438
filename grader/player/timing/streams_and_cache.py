"""What is called in a race beside the submission, and where calls are made."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


def overwrite(buffer: torch.Tensor) -> None:
    """Fill the cache with something else."""
    buffer.zero_()


def copying(nbytes: int) -> Callable[..., None]:
    """A copy of a number of bytes on the device. It has no result, since nobody compares one."""
    source = torch.zeros(nbytes // 4, device="cuda")
    target = torch.empty_like(source)

    def call(*_: object) -> None:
        target.copy_(source)

    return call


def waiting(
    target: Callable[..., Any], give_back: Callable[[], None], wait: Callable[[], None]
) -> Callable[..., Any]:
    """The same, but it gives free memory back and waits for the device, as some honest submissions do."""

    def call(*args: Any) -> Any:
        give_back()
        wait()
        value = target(*args)
        wait()
        return value

    return call


def on_stream(other: torch.cuda.Stream | None) -> contextlib.AbstractContextManager[Any]:
    """Another current stream, or the one that there is."""
    return contextlib.nullcontext() if other is None else torch.cuda.stream(other)
