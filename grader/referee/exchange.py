"""Lay a call's tensors into a player's arenas and read the results back. Bytes only; no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.arena import Slot, aligned
from grader.referee.draw import Drawn
from grader.referee.process import Player

Array = NDArray[Any]
Value = Drawn | int | float | str


@dataclass(frozen=True, slots=True)
class Wanted:
    """An output that a call should fill: where in the outbox, and what."""

    at: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        """Size of the buffer."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def as_json(self) -> dict[str, Any]:
        """For the wire."""
        return {"at": self.at, "shape": list(self.shape), "dtype": self.dtype}


def pack(player: Player, tensors: list[Drawn]) -> list[Slot]:
    """Write storages into the inbox, one after another, and say where they lie."""
    slots, at = [], 0
    for drawn in tensors:
        slots.append(
            Slot(at, drawn.storage.size, drawn.dtype, drawn.shape, drawn.strides, drawn.start, drawn.device)
        )
        at = aligned(at + drawn.storage.nbytes)
    player.inbox.reach(at)
    for slot, drawn in zip(slots, tensors, strict=True):
        player.inbox.map[slot.at : slot.at + drawn.storage.nbytes] = drawn.storage.tobytes()
    return slots


def offer(
    player: Player, args: list[Value], outputs: list[tuple[tuple[int, ...], str]]
) -> tuple[dict[str, Any], list[Wanted], list[int]]:
    """Prepare a call: fields of the request, the outputs wanted, and where inputs are copied afterwards.

    All of the outbox is filled with 0xFF first, which is NaN in every float format.
    """
    drawn = [a for a in args if isinstance(a, Drawn)]
    slots = iter(pack(player, drawn))
    listed = [{"slot": next(slots).as_json()} if isinstance(a, Drawn) else {"value": a} for a in args]
    wanted, after, at = [], [], 0
    for shape, dtype in outputs:
        wanted.append(Wanted(at, shape, dtype))
        at = aligned(at + wanted[-1].nbytes)
    for tensor in drawn:
        after.append(at)
        at = aligned(at + tensor.storage.nbytes)
    player.outbox.reach(at)
    player.outbox.map[:at] = b"\xff" * at
    return {"args": listed, "out": [w.as_json() for w in wanted], "after": after}, wanted, after


def collect(player: Player, wanted: list[Wanted]) -> list[Array]:
    """Copies of the outputs, made before anything else runs."""
    return [
        np.frombuffer(player.outbox.map[w.at : w.at + w.nbytes], dtype=w.dtype).reshape(w.shape)
        for w in wanted
    ]


def changed(player: Player, args: list[Value], after: list[int]) -> int | None:
    """The number of the first tensor argument whose storage is no longer what was given, or None."""
    drawn = [a for a in args if isinstance(a, Drawn)]
    for number, (tensor, at) in enumerate(zip(drawn, after, strict=True)):
        if player.outbox.map[at : at + tensor.storage.nbytes] != tensor.storage.tobytes():
            return number
    return None
