"""On a GPU the inputs of a judged call come late: until then their memory holds zeros."""

from __future__ import annotations

from typing import Any

import torch

# Held since before the submission is loaded: what it puts in their place later on is not asked.
synchronize = torch.cuda.synchronize
sleep = getattr(torch.cuda, "_sleep", None)  # which keeps the current stream busy for a number of cycles

CYCLES_A_SECOND = 2_000_000_000  # of the fastest clock; on a slower one a stream is busy for longer
LEAST_S, MOST_S = 1e-3, 50e-3  # that an input may come late
TIMES = 2  # what the host took for such a call before
MAX_BYTES = 256 << 20  # so much of the inputs comes late; there must be memory for as much again


def keep_busy_s(seconds: float) -> None:
    """Have the current stream do nothing for so long; what is queued on it later waits."""
    assert sleep is not None
    sleep(int(seconds * CYCLES_A_SECOND))


def give_late(inputs: list[Any], device: str, host_s: float = 0.0) -> None:
    """Have the current stream write those of ``inputs`` on ``device``, after it was busy for a while.

    Judged calls are made on the default stream, and so is this: a kernel that was launched there, or on a
    stream that the driver keeps in order with it, finds the values whatever its timing. One on a stream of
    its own that does not wait for this one finds zeros, as long as it is launched while this one is busy:
    for twice the ``host_s`` seconds that the host took for a call before, within limits. Versions stay what
    they are.
    """
    memory = whole(inputs, device)
    values = [piece.clone() for piece in memory]
    for piece in memory:
        piece.zero_()
    synchronize()
    keep_busy_s(min(MOST_S, max(LEAST_S, TIMES * host_s)))
    for piece, value in zip(memory, values, strict=True):
        piece.copy_(value)


def whole(inputs: list[Any], device: str) -> list[torch.Tensor]:
    """The memory behind inputs on a device, as bytes, each piece once, up to ``MAX_BYTES`` in all."""
    there = [t for t in inputs if isinstance(t, torch.Tensor) and t.device.type == device]
    memory = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in there}
    pieces = [torch.empty(0, dtype=torch.uint8, device=m.device).set_(m) for m in memory.values()]
    left, found = MAX_BYTES, []
    for piece in pieces:
        found.append(piece[:left])
        left -= found[-1].numel()
    return found
