"""On a GPU a call can be made on a stream that is still busy, and still writes the call's inputs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_CYCLES = 2_000_000  # about a millisecond: longer than a host takes from the call to its launch
MAX_BYTES = 256 << 20  # there must be memory for as much again


@contextlib.contextmanager
def busy(inputs: list[Any] | None = None, device: str = "cuda") -> Iterator[None]:
    """Another current stream, busy for a millisecond, which then writes those of ``inputs`` on ``device``.

    Work that is queued on it, or that waits for it, finds them as they were. What runs elsewhere (on the
    default stream, or in a thread that was not told of this one) finds zeros. Versions stay what they are.
    """
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        memory = whole(inputs or [], device)
        values = [piece.clone() for piece in memory]
        for piece in memory:
            piece.zero_()
        side.synchronize()
        torch.cuda._sleep(BUSY_CYCLES)  # type: ignore[no-untyped-call]
        for piece, value in zip(memory, values, strict=True):
            piece.copy_(value)
        yield


def whole(inputs: list[Any], device: str) -> list[torch.Tensor]:
    """The memory behind inputs on a device, as bytes, each piece once; nothing above ``MAX_BYTES``."""
    there = [t for t in inputs if isinstance(t, torch.Tensor) and t.device.type == device]
    memory = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in there}
    if sum(map(len, memory.values())) > MAX_BYTES:
        return []
    return [torch.empty(0, dtype=torch.uint8, device=m.device).set_(m) for m in memory.values()]
