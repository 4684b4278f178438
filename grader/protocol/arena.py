"""Shared memory between referee and player: tensors travel as bytes, described by slots.

An arena is an anonymous file that both map. The referee sizes and fills it; a :class:`Slot` says where in
it a tensor's storage lies and how the tensor views that storage.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import tempfile
from dataclasses import asdict, dataclass
from typing import Any

ALIGN = 256
# Not in Python's fcntl module everywhere; the numbers are Linux's.
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor in an arena.

    ``at``: byte offset of its storage; ``elements``: how many elements of ``dtype`` (a numpy name, or
    "bfloat16") the storage holds; ``shape``, ``strides`` and ``start`` (storage offset) count elements.
    """

    at: int
    elements: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int = 0
    device: str = "cuda"

    def as_json(self) -> dict[str, Any]:
        """For the wire."""
        return asdict(self)


class Arena:
    """A growable anonymous file, mapped into this process."""

    def __init__(self, fd: int, size: int) -> None:
        self.fd = fd
        self.size = size
        self.map = mmap.mmap(fd, size)

    @classmethod
    def create(cls, name: str, size: int = 1 << 16) -> Arena:
        """A new arena, zero-filled, owned by this process. The name is for debugging only."""
        if hasattr(os, "memfd_create"):
            fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(fd, size)
            # A player that could shorten the file would end the referee with SIGBUS at its next look.
            fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
        else:  # macOS has no memfd; an unlinked temporary file behaves alike
            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
            os.ftruncate(fd, size)
        return cls(fd, size)

    def reach(self, size: int) -> None:
        """Make the map at least ``size`` bytes long; the owner also grows the file."""
        if size <= self.size:
            return
        size = 1 << (size - 1).bit_length()
        if os.fstat(self.fd).st_size < size:
            os.ftruncate(self.fd, size)
        self.map = mmap.mmap(self.fd, size)
        self.size = size

    def attach(self, size: int) -> None:
        """Follow the owner, who has grown the file to ``size`` bytes."""
        if size > self.size:
            self.map = mmap.mmap(self.fd, size)
            self.size = size

    def close(self) -> None:
        """Give file and map back; the map lives on while something still views it. May be called twice."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            # The map holds a file descriptor of its own, and would keep it until garbage is collected.
            with contextlib.suppress(BufferError):
                self.map.close()

    def __del__(self) -> None:
        """Whoever forgets an arena does not keep its file: a long run would run out of descriptors."""
        if hasattr(self, "map"):
            self.close()

    def in_memory(self) -> int:
        """Bytes of memory that the file takes by now, whoever wrote them; 0 once it is closed."""
        return os.fstat(self.fd).st_blocks * 512 if self.fd >= 0 else 0


def aligned(offset: int) -> int:
    """The next offset at which a tensor may start (256 bytes, as torch's CUDA allocator aligns)."""
    return -(-offset // ALIGN) * ALIGN
