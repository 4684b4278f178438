"""Where what a process allocates lies, and what of it stays in the cache."""

from __future__ import annotations

import contextlib
import ctypes
import random

import torch


def elsewhere() -> list[torch.Tensor]:
    """Some memory that is taken and not used, so that what is allocated next lies where nobody foresees.

    Of both kinds: PyTorch's allocator deals small tensors out of pieces of 2 MB, large ones out of others.
    """
    chance = random.SystemRandom()
    large = [chance.randrange(5, 33) << 18 for _ in range(chance.randrange(1, 9))]
    small = [chance.randrange(1, 2049) << 9 for _ in range(chance.randrange(33))]
    return [torch.empty(size, dtype=torch.uint8, device="cuda") for size in large + small]


def memory_bytes(device: str) -> int:
    """Bytes that a device has in all; of a CPU those of a small GPU."""
    if not device.startswith("cuda"):
        return 8 << 30
    return int(torch.cuda.get_device_properties(device).total_memory)


def reset_persisting() -> None:
    """Give back the lines of the L2 cache that somebody has set aside, if there is a driver."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache()
