"""Tensors between a player and the referee, or from player to player: bytes, a window at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from grader.protocol import play
from grader.protocol.arena import aligned
from grader.protocol.play import Done, InputForm, Piece
from grader.referee import device_link
from grader.referee.device_link import HALF, LARGE, between
from grader.referee.dtypes import size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.domain.inputs import Drawn
    from grader.referee.side import Side

WINDOW = 64 << 20  # bytes of a window
Asked = tuple["Line", int, int]  # elements of a line, from and to


@dataclass(frozen=True, slots=True)
class Line:
    """Elements that can be moved: ``what`` and ``key`` name them at the player."""

    what: str
    key: int | play.Key
    elements: int
    dtype: str

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return size_of(self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all."""
        return self.elements * self.size


def input_lines(forms: Sequence[InputForm], what: str = "input") -> list[Line]:
    """All storage of tensors of these forms."""
    return [Line(what, n, form.elements, form.dtype) for n, form in enumerate(forms)]


def form_of(drawn: Drawn) -> InputForm:
    """How a drawn tensor lies in memory: its whole storage, gaps of a view included."""
    place: Literal["cuda", "cpu"] = "cpu" if drawn.device == "cpu" else "cuda"
    return InputForm(drawn.shape, drawn.strides, drawn.dtype, drawn.storage.size, drawn.start, place)


def windows(lines: Sequence[Line], window: int = WINDOW) -> Iterator[list[tuple[int, int, int, int]]]:
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


def send(target: Side, lines: Sequence[tuple[Line, memoryview | bytes]]) -> None:
    """Write bytes that the referee has to these lines, as a whole each."""
    only = [line for line, _ in lines]
    views = [memoryview(data).cast("B") for _, data in lines]
    for pieces in windows(only):
        base = _space(target, _end(pieces, only))
        with memoryview(target.inbox.map) as inbox:
            for number, lo, hi, at in pieces:
                size = only[number].size
                data = np.frombuffer(views[number][lo * size : hi * size], np.uint8)
                # NumPy lets other threads work meanwhile, which may be sending to other processes.
                np.frombuffer(inbox, np.uint8, len(data), base + at)[:] = data
        _write(target, only, pieces, base, [line.dtype for line in only])


def move(source: Side, target: Side, pairs: Sequence[tuple[Line, Line]]) -> None:
    """Copy each first line to its second, which may have another dtype."""
    lines = [first for first, _ in pairs]
    way = _way(source, target, lines)
    for pieces in windows(lines, way.window):
        base = way.carry(lines, pieces)
        _write(target, [second for _, second in pairs], pieces, base, [x.dtype for x in lines], way.there)


def fetch(side: Side, asked: Sequence[Asked]) -> list[bytes]:
    """Elements of some lines, copied; what the player does not write is all ones, which is NaN."""
    at, pieces = 0, []
    for number, (line, lo, hi) in enumerate(asked):
        pieces.append((number, lo, hi, at))
        at = aligned(at + (hi - lo) * line.size)
    _read(side, [line for line, _, _ in asked], pieces)
    outbox = side.outbox.map
    return [outbox[at : at + (hi - lo) * asked[n][0].size] for n, lo, hi, at in pieces]


def whole(lines: Sequence[Line]) -> list[Asked]:
    """All elements of these lines, to be fetched."""
    return [(line, 0, line.elements) for line in lines]


def same(one: Side, other: Side, pairs: Sequence[tuple[Line, Line]]) -> int | None:
    """The number of the first pair of lines whose bytes differ, or None.

    They are compared in the process of ``other``, the reference's: on a GPU that is many times as fast.
    """
    lines = [first for first, _ in pairs]
    way = _way(one, other, lines)
    for pieces in windows(lines, way.window):
        _claim(way, lines, pieces)
        theirs = [(pairs[n][1], lo, hi) for n, lo, hi, _ in pieces]
        asked = play.Same(tuple(Piece(line.what, line.key, lo, hi, 0) for line, lo, hi in theirs))
        good = other.ask(asked, play.Agreement).good
        for (number, *_), alike in zip(pieces, good, strict=True):
            if not alike:
                return number
    return None


def claim(source: Side, target: Side, line: Line, lo: int, hi: int) -> None:
    """Copy elements of a line, a window of bytes at most, to where the reference has what is claimed."""
    _claim(_way(source, target, [line]), [line], [(0, lo, hi, 0)])


def _claim(way: _Way, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]]) -> None:
    base = way.carry(lines, pieces)
    forms = tuple(InputForm((hi - lo,), (1,), lines[n].dtype, hi - lo) for n, lo, hi, _ in pieces)
    way.target.later(play.Room("claimed", forms))
    given = [(hi - lo, base + at, lines[n].dtype) for n, lo, hi, at in pieces]
    taken = tuple(Piece("claimed", k, 0, size, at, dtype) for k, (size, at, dtype) in enumerate(given))
    way.target.later(play.Write(taken, way.there))


class _Way:
    """From one process to another, by the host's memory; ``there``: the number of the GPU's, if by that."""

    there = 0

    def __init__(self, source: Side, target: Side) -> None:
        self.source, self.target = source, target

    @property
    def window(self) -> int:
        """Bytes that are carried at a time."""
        return WINDOW

    def carry(self, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]]) -> int:
        """Bring a window to where the target can take it; the byte at which it begins there."""
        end = _read(self.source, lines, pieces)
        base = _space(self.target, end)
        seen, taken = self.source.outbox, self.target.inbox
        with memoryview(seen.map) as all_seen, memoryview(taken.map) as all_taken:
            all_taken[base : base + end] = all_seen[:end]
        return base


class _ThroughGpu(_Way):
    """Memory of the GPU, into which the source writes and from which the target reads."""

    @property
    def window(self) -> int:
        """Bytes that are carried at a time."""
        return HALF

    def __init__(self, source: Side, target: Side, there: int) -> None:
        super().__init__(source, target)
        self.there = there

    def carry(self, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]]) -> int:
        base = device_link.place(self.target, self.there, aligned(_end(pieces, lines)))
        asked = tuple(Piece(lines[n].what, lines[n].key, lo, hi, base + at) for n, lo, hi, at in pieces)
        self.source.ask(play.Read(asked, self.there), Done)
        return base


def _way(source: Side, target: Side, lines: Sequence[Line]) -> _Way:
    """How these lines go: large ones by the GPU, if both processes are on it."""
    if sum(line.nbytes for line in lines) >= LARGE and (there := between(source, target)):
        return _ThroughGpu(source, target, there)
    return _Way(source, target)


def _end(pieces: list[tuple[int, int, int, int]], lines: Sequence[Line]) -> int:
    return max((at + (hi - lo) * lines[n].size for n, lo, hi, at in pieces), default=0)


def _space(target: Side, nbytes: int) -> int:
    """Where the bytes of a window go; what waits is done first where there would be too much."""
    if target.taken() + nbytes > WINDOW:
        target.flush()
    return target.place(aligned(nbytes))


def _write(
    target: Side,
    lines: Sequence[Line],
    pieces: list[tuple[int, int, int, int]],
    base: int,
    dtypes: list[str],
    there: int = 0,
) -> None:
    """Have the target take a window's pieces, which lie in its inbox, or ``there`` on the GPU."""
    taken = [Piece(lines[n].what, lines[n].key, lo, hi, base + at, dtypes[n]) for n, lo, hi, at in pieces]
    target.later(play.Write(tuple(taken), there))


def _read(side: Side, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]]) -> int:
    end = _end(pieces, lines)
    side.outbox.reach(end)
    if end:
        with memoryview(side.outbox.map) as outbox:
            np.frombuffer(outbox, np.uint8, end)[:] = 0xFF
    asked = tuple(Piece(lines[n].what, lines[n].key, lo, hi, at) for n, lo, hi, at in pieces)
    side.ask(play.Read(asked), Done)
    return end
