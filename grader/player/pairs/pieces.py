"""Pieces of tensors, in and out of the shared memory: nothing is ever copied as a whole only to travel."""

from __future__ import annotations

from typing import Any

import torch

from grader.player.tensors import dtype_of
from grader.player.values import span
from grader.protocol.arena import Arena


class Flat:
    """A tensor's elements in row-major order, or those of its storage, to be read and written in pieces.

    A tensor that is not contiguous is made so once, for reading; written pieces of one are gathered until
    the last has come.
    """

    def __init__(self, tensor: torch.Tensor, *, storage: bool = False) -> None:
        self._tensor = tensor = tensor.detach()
        self._gathered: torch.Tensor | None = None
        if storage:
            self.line = tensor.as_strided((span(tensor),), (1,), tensor.storage_offset())
        elif tensor.is_contiguous():
            self.line = tensor.reshape(-1)
        else:
            self.line = tensor.contiguous().reshape(-1)
            self._gathered = self.line

    def read(self, arena: Arena, lo: int, hi: int, at: int) -> None:
        """Copy elements ``lo`` to ``hi`` to byte ``at``."""
        if hi > lo:
            target = torch.frombuffer(arena.map, dtype=self.line.dtype, count=hi - lo, offset=at)
            target.copy_(self.line[lo:hi])

    def write(self, arena: Arena, lo: int, hi: int, at: int, dtype: str) -> None:
        """Take elements ``lo`` to ``hi`` of that dtype from byte ``at``, without raising the version."""
        if hi > lo:
            source = torch.frombuffer(arena.map, dtype=dtype_of(dtype), count=hi - lo, offset=at)
            self.line[lo:hi].copy_(source)
        if self._gathered is not None and hi == self.line.numel():
            self._tensor.data.copy_(self._gathered.view(self._tensor.shape))


def read(sources: Any, arena: Arena, pieces: list[list[Any]]) -> None:
    """``pieces``: [what, key, lo, hi, at] each; ``sources(what, key)`` gives the :class:`Flat`."""
    for what, key, lo, hi, at in pieces:
        sources(what, key).read(arena, lo, hi, at)


def write(targets: Any, arena: Arena, pieces: list[list[Any]]) -> None:
    """``pieces``: [what, key, lo, hi, at, dtype] each."""
    for what, key, lo, hi, at, dtype in pieces:
        targets(what, key).write(arena, lo, hi, at, dtype)
