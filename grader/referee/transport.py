"""Lay a call's tensors into a player's arenas and read the results back. Bytes only; no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.protocol.arena import Slot, aligned
from grader.referee.draw import Drawn
from grader.referee.process.player_process import Player

Array = NDArray[Any]
Value = Drawn | int | float | str
State = list[tuple[str, Drawn]]


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


@dataclass(slots=True)
class Sheet:
    """A prepared call: the ``fields`` of the request and where in the outbox its answers will lie.

    ``wanted`` are the results; ``kept`` those of the call before, copied out again after this call;
    ``given`` is what was passed in: (what it is, place, bytes that should still be there).
    """

    fields: dict[str, Any]
    wanted: list[Wanted]
    kept: list[Wanted] = field(default_factory=list)
    given: list[tuple[str, int, bytes]] = field(default_factory=list)


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
        if drawn.storage.nbytes:
            whole = memoryview(player.inbox.map)  # bytes are copied once, however many they are
            whole[slot.at : slot.at + drawn.storage.nbytes] = drawn.storage.view(np.uint8).data
            whole.release()
    return slots


def prepare(
    player: Player,
    args: list[Value],
    outputs: list[tuple[tuple[int, ...], str]],
    kept: list[tuple[tuple[int, ...], str]] | None = None,
    state: State | None = None,
) -> Sheet:
    """Prepare a call: inputs packed, places for outputs, for the last results, for inputs and weights after.

    All of the outbox is filled with 0xFF first, which is NaN in every float format.
    """
    drawn = [a for a in args if isinstance(a, Drawn)]
    slots = iter(pack(player, drawn))
    listed = [{"slot": next(slots).as_json()} if isinstance(a, Drawn) else {"value": a} for a in args]
    at = 0

    def place(nbytes: int) -> int:
        nonlocal at
        here, at = at, aligned(at + nbytes)
        return here

    def places(tensors: list[tuple[tuple[int, ...], str]]) -> list[Wanted]:
        sizes = [Wanted(0, shape, dtype) for shape, dtype in tensors]
        return [Wanted(place(w.nbytes), w.shape, w.dtype) for w in sizes]

    sheet = Sheet({"args": listed}, places(outputs), places(kept or []))
    for number, tensor in enumerate(drawn):
        data = tensor.storage.tobytes()
        sheet.given.append((f"input {number}", place(len(data)), data))
    for name, tensor in state or []:
        data = tensor.storage.tobytes()
        sheet.given.append((f"parameter {name}", place(len(data)), data))
    player.outbox.reach(at)
    if at:
        np.frombuffer(player.outbox.map, np.uint8, at).fill(0xFF)
    after = [where for _, where, _ in sheet.given]
    sheet.fields |= {
        "out": [w.as_json() for w in sheet.wanted],
        "kept": [w.as_json() for w in sheet.kept],
        "after": after[: len(drawn)],
        "state": [[n, w] for (n, _), w in zip(state or [], after[len(drawn) :], strict=True)],
    }
    return sheet


def offer(
    player: Player, args: list[Value], outputs: list[tuple[tuple[int, ...], str]]
) -> tuple[dict[str, Any], list[Wanted], list[int]]:
    """A plain call: fields of the request, the outputs wanted, and where inputs are copied afterwards."""
    sheet = prepare(player, args, outputs)
    return sheet.fields, sheet.wanted, [at for _, at, _ in sheet.given]


def collect(player: Player, wanted: list[Wanted]) -> list[Array]:
    """Copies of the outputs, made before anything else runs."""
    return [
        np.frombuffer(player.outbox.map[w.at : w.at + w.nbytes], dtype=w.dtype).reshape(w.shape)
        for w in wanted
    ]


def changed(player: Player, sheet: Sheet) -> str | None:
    """The first input or parameter whose bytes are no longer what was given, or None."""
    for what, at, data in sheet.given:
        if player.outbox.map[at : at + len(data)] != data:
            return what
    return None
