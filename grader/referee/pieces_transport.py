"""Pieces of tensors between a player and the referee, or from player to player, a window at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.protocol.arena import aligned
from grader.referee.process.player_process import Player

WINDOW = 64 << 20  # bytes of a window
Ask = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Side:
    """A player, and how it is asked for a step of the command ``pair``."""

    player: Player
    ask: Ask


@dataclass(frozen=True, slots=True)
class Line:
    """Elements that can be moved: ``what`` and ``key`` name them there, ``size`` is bytes of an element."""

    what: str
    key: Any
    elements: int
    dtype: str
    size: int


def windows(lines: list[Line], window: int = WINDOW) -> Iterator[list[tuple[int, int, int, int]]]:
    """Cut lines into pieces (number, from, to, place), as many in a window as fit it."""
    pieces: list[tuple[int, int, int, int]] = []
    at = 0
    for number, line in enumerate(lines):
        lo = 0
        while lo < line.elements:
            hi = min(line.elements, lo + max(1, (window - at) // line.size))
            pieces.append((number, lo, hi, at))
            at = aligned(at + (hi - lo) * line.size)
            lo = hi
            if at >= window:
                yield pieces
                pieces, at = [], 0
    if pieces:
        yield pieces


def move(source: Side, target: Side, pairs: list[tuple[Line, Line]]) -> None:
    """Copy each first line to its second, which may have another dtype."""
    lines = [first for first, _ in pairs]
    for pieces in windows(lines):
        end = _read(source, lines, pieces)
        target.player.inbox.reach(end)
        with (
            memoryview(source.player.outbox.map) as seen,
            memoryview(target.player.inbox.map) as taken,
        ):
            taken[:end] = seen[:end]
        taken_in = [
            [pairs[n][1].what, pairs[n][1].key, lo, hi, at, lines[n].dtype] for n, lo, hi, at in pieces
        ]
        target.ask("write", pieces=taken_in)


def fetch(side: Side, asked: list[tuple[Line, int, int]]) -> list[bytes]:
    """Elements [lo, hi) of some lines, copied; what the player does not write is all ones, which is NaN."""
    at, pieces = 0, []
    for number, (line, lo, hi) in enumerate(asked):
        pieces.append((number, lo, hi, at))
        at = aligned(at + (hi - lo) * line.size)
    _read(side, [line for line, _, _ in asked], pieces)
    return [side.player.outbox.map[at : at + (hi - lo) * asked[n][0].size] for n, lo, hi, at in pieces]


def same(one: Side, other: Side, pairs: list[tuple[Line, Line]]) -> int | None:
    """The number of the first pair of lines whose bytes differ, or None."""
    lines = [first for first, _ in pairs]
    for pieces in windows(lines):
        _read(one, lines, pieces)
        _read(other, [second for _, second in pairs], pieces)
        with (
            memoryview(one.player.outbox.map) as seen,
            memoryview(other.player.outbox.map) as also,
        ):
            for number, lo, hi, at in pieces:
                end = at + (hi - lo) * lines[number].size
                if not _equal(seen[at:end], also[at:end]):
                    return number
    return None


def _equal(one: memoryview, other: memoryview) -> bool:
    """As ``==``, which compares memory byte by byte and lets no other thread work meanwhile."""
    return np.array_equal(np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8))


def _read(side: Side, lines: list[Line], pieces: list[tuple[int, int, int, int]]) -> int:
    end = max((at + (hi - lo) * lines[n].size for n, lo, hi, at in pieces), default=0)
    side.player.outbox.reach(end)
    if end:
        with memoryview(side.player.outbox.map) as whole:
            np.frombuffer(whole, np.uint8, end)[:] = 0xFF
    asked = [[lines[n].what, lines[n].key, lo, hi, at] for n, lo, hi, at in pieces]
    side.ask("read", pieces=asked)
    return end
