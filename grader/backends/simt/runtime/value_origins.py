"""Where the values of a call came from, as the runtime library keeps it (``csrc/origins.cpp``).

The record is kept by the library for all threads, at every way into device memory: kernels' accesses, torch's
operators, copies. Python only switches it on and reads it.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import msgspec

from grader.domain import typed_data
from grader.protocol.operator_kinds import GEMM, MOVING
from grader.protocol.play import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import torch


class RawWriter(msgspec.Struct, frozen=True):
    """How many bytes that somebody else than a kernel wrote the kernels read."""

    writer: str
    bytes: int


class Origins:
    """The record of the call that is watched."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._begin, self._end, self._take, self._give_back, self._told = (
            library.simt_watch, library.simt_watched, library.simt_take, library.simt_give_back_taken,
            library.simt_transcript,
        )  # fmt: skip
        self._end.restype = self._told.restype = ctypes.c_char_p
        self._take.restype = ctypes.c_void_p

    def begin(self, *, products: bool, prepared: Iterable[Sequence[int]]) -> bool:
        """Watch from now on; False if there is no room for the record.

        ``products``: of matrices, by torch, are as good as inputs. ``prepared``: shapes in which torch may
        prepare inputs and weights.
        """
        shapes = " ".join(",".join(map(str, sorted(shape))) for shape in prepared if shape)
        words = (" ".join(sorted(MOVING)), " ".join(sorted(GEMM)) if products else "", shapes)
        return bool(self._begin("\n".join(words).encode()) == 0)

    def end(self) -> tuple[tuple[str, int], ...]:
        """Stop watching. Who else than kernels wrote what kernels read in the call, and bytes of each."""
        found = typed_data.decode(self._end(), list[RawWriter])
        return tuple((one.writer, one.bytes) for one in found)

    def told(self) -> tuple[Told, ...]:
        """What the host told the device in the call that was watched last."""
        return typed_data.decode(self._told(), tuple[Told, ...])

    def take(self, tensor: torch.Tensor) -> tuple[ctypes.Array[ctypes.c_char], int, int]:
        """The bytes of a copy of the tensor, in row-major order; how many of its elements, and which first,
        do not hold what a kernel left there.

        The copy is made and judged in one go, and nobody can write to it. It is there until ``give_back``.

        Raises:
            MemoryError: There is no room for it.
        """
        numbers = ctypes.c_int64 * max(1, tensor.dim())
        found, first = ctypes.c_size_t(0), ctypes.c_size_t(0)
        place = self._take(
            ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.element_size()), tensor.dim(),
            numbers(*tensor.shape), numbers(*tensor.stride()), ctypes.byref(found), ctypes.byref(first),
        )  # fmt: skip
        size = tensor.numel() * tensor.element_size()
        if place is None:
            raise MemoryError(f"There is no room for a copy of a result of {size} bytes.")
        return (ctypes.c_char * size).from_address(place), int(found.value), int(first.value)

    def give_back(self) -> None:
        """Copies that were taken are not read any more."""
        self._give_back()


_held: list[Origins] = []


def hold(library: ctypes.CDLL) -> None:
    """This is the process's device from now on."""
    _held[:] = [Origins(library)]


def held() -> Origins | None:
    """The device's record, None where there is no such device."""
    return _held[0] if _held else None
