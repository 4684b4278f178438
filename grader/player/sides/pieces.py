"""Pieces of tensors, in and out of the shared memory: nothing is ever copied as a whole only to travel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.autograd.graph import increment_version

from grader.player.device_arena import elements
from grader.player.tensors import dtype_of
from grader.player.values import ahead, span

if TYPE_CHECKING:
    import torch

    from grader.player.device_arena import DeviceArena
    from grader.protocol.arena import Arena
    from grader.protocol.play import Piece


class Flat:
    """A tensor's elements in row-major order, or those of its storage, to be read and written in pieces.

    A tensor that is not contiguous is made so once, for reading; written pieces of one are gathered until
    the last has come. ``versioned``: writing raises the tensor's version, as an optimizer's step does; else
    it stays as it is, as it does when a kernel writes.
    """

    def __init__(self, tensor: torch.Tensor, *, storage: bool = False, versioned: bool = False) -> None:
        self._versioned = tensor if versioned else None
        self._tensor = tensor = tensor.data  # whose version is its own
        self._gathered: torch.Tensor | None = None
        if storage:
            before = ahead(tensor)
            self.line = tensor.as_strided((before + span(tensor),), (1,), tensor.storage_offset() - before)
        elif tensor.is_contiguous():
            self.line = tensor.reshape(-1)
        else:
            self.line = tensor.contiguous().reshape(-1)
            self._gathered = self.line

    def read(self, arena: Arena | DeviceArena, piece: Piece) -> None:
        """Copy a piece into shared memory."""
        lo, hi = piece.lo, piece.hi
        if hi > lo:
            elements(arena, self.line.dtype, hi - lo, piece.at).copy_(self.line[lo:hi])

    def write(self, arena: Arena | DeviceArena, piece: Piece) -> None:
        """Take a piece from shared memory."""
        lo, hi = piece.lo, piece.hi
        if hi > lo:
            self.line[lo:hi].copy_(elements(arena, dtype_of(piece.dtype), hi - lo, piece.at))
        if self._gathered is not None and hi == self.line.numel():
            self._tensor.data.copy_(self._gathered.view(self._tensor.shape))
        if self._versioned is not None:
            increment_version(self._versioned)
