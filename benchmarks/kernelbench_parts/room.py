"""Who may run beside whom: gradings at the same time share the GPU's memory."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.kernelbench_parts.look import Look

GB = 10**9
ALONE = 2 * GB  # two contexts of CUDA, and blocks of float64 answers
UNKNOWN = 16 * GB


def needed(seen: Look) -> int:
    """Bytes of a GPU that a grading is reckoned to need.

    Each process holds inputs and results, the submission's a copy of these, and what the call makes on its
    way; the reference its parameters in float64, too, and where these get new memory the old one is kept.
    """
    much = max(seen.tensor_bytes, 2 * seen.largest_bytes)
    return UNKNOWN if seen.unknown else ALONE + 6 * much + 7 * seen.state_bytes


class Room:
    """So many bytes; who needs more than all of them runs alone."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._free = capacity
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def take(self, need: int) -> Iterator[None]:
        """Wait until there is room, and hold it; without a capacity nobody waits."""
        need = min(need, self.capacity)
        with self._changed:
            self._changed.wait_for(lambda: self._free >= need)
            self._free -= need
        try:
            yield
        finally:
            with self._changed:
                self._free += need
                self._changed.notify_all()
