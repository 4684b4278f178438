"""Tensors between a player and the referee, or from player to player: bytes, a window at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from grader.protocol import play
from grader.protocol.arena import aligned
from grader.protocol.play import Done, InputForm, Piece
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
        with memoryview(target.player.inbox.map) as inbox:
            for number, lo, hi, at in pieces:
                size = only[number].size
                data = np.frombuffer(views[number][lo * size : hi * size], np.uint8)
                # NumPy lets other threads work meanwhile, which may be sending to other processes.
                np.frombuffer(inbox, np.uint8, len(data), base + at)[:] = data
        _write(target, only, pieces, base, [line.dtype for line in only])


def move(source: Side, target: Side, pairs: Sequence[tuple[Line, Line]]) -> None:
    """Copy each first line to its second, which may have another dtype."""
    lines = [first for first, _ in pairs]
    for pieces in windows(lines):
        end = _read(source, lines, pieces)
        base = _space(target, end)
        with memoryview(source.player.outbox.map) as seen, memoryview(target.player.inbox.map) as taken:
            taken[base : base + end] = seen[:end]
        _write(target, [second for _, second in pairs], pieces, base, [line.dtype for line in lines])


def fetch(side: Side, asked: Sequence[Asked]) -> list[bytes]:
    """Elements of some lines, copied; what the player does not write is all ones, which is NaN."""
    at, pieces = 0, []
    for number, (line, lo, hi) in enumerate(asked):
        pieces.append((number, lo, hi, at))
        at = aligned(at + (hi - lo) * line.size)
    _read(side, [line for line, _, _ in asked], pieces)
    return [side.player.outbox.map[at : at + (hi - lo) * asked[n][0].size] for n, lo, hi, at in pieces]


def whole(lines: Sequence[Line]) -> list[Asked]:
    """All elements of these lines, to be fetched."""
    return [(line, 0, line.elements) for line in lines]


def same(one: Side, other: Side, pairs: Sequence[tuple[Line, Line]]) -> int | None:
    """The number of the first pair of lines whose bytes differ, or None.

    They are compared in the process of ``other``, the reference's: on a GPU that is many times as fast.
    """
    lines = [first for first, _ in pairs]
    for pieces in windows(lines):
        _claim(one, other, lines, pieces)
        theirs = [(pairs[n][1], lo, hi) for n, lo, hi, _ in pieces]
        asked = play.Same(tuple(Piece(line.what, line.key, lo, hi, 0) for line, lo, hi in theirs))
        good = other.ask(asked, play.Agreement).good
        for (number, *_), alike in zip(pieces, good, strict=True):
            if not alike:
                return number
    return None


def claim(source: Side, target: Side, line: Line, lo: int, hi: int) -> None:
    """Copy elements of a line, a window of bytes at most, to where the reference has what is claimed."""
    _claim(source, target, [line], [(0, lo, hi, 0)])


def _claim(
    source: Side, target: Side, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]]
) -> None:
    end = _read(source, lines, pieces)
    base = _space(target, end)
    with memoryview(source.player.outbox.map) as seen, memoryview(target.player.inbox.map) as taken:
        taken[base : base + end] = seen[:end]
    forms = tuple(InputForm((hi - lo,), (1,), lines[n].dtype, hi - lo) for n, lo, hi, _ in pieces)
    target.later(play.Room("claimed", forms))
    given = [(hi - lo, base + at, lines[n].dtype) for n, lo, hi, at in pieces]
    target.later(
        play.Write(tuple(Piece("claimed", k, 0, size, at, d) for k, (size, at, d) in enumerate(given)))
    )


def _end(pieces: list[tuple[int, int, int, int]], lines: Sequence[Line]) -> int:
    return max((at + (hi - lo) * lines[n].size for n, lo, hi, at in pieces), default=0)


def _space(target: Side, nbytes: int) -> int:
    """Where the bytes of a window go; what waits is done first where there would be too much."""
    if target.taken + nbytes > WINDOW:
        target.flush()
    return target.place(aligned(nbytes))


def _write(
    target: Side, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]], base: int, dtypes: list[str]
) -> None:
    """Have the target take a window's pieces, which lie in its inbox."""
    taken = [Piece(lines[n].what, lines[n].key, lo, hi, base + at, dtypes[n]) for n, lo, hi, at in pieces]
    target.later(play.Write(tuple(taken)))


def _read(side: Side, lines: Sequence[Line], pieces: list[tuple[int, int, int, int]]) -> int:
    end = _end(pieces, lines)
    side.player.outbox.reach(end)
    if end:
        with memoryview(side.player.outbox.map) as outbox:
            np.frombuffer(outbox, np.uint8, end)[:] = 0xFF
    asked = tuple(Piece(lines[n].what, lines[n].key, lo, hi, at) for n, lo, hi, at in pieces)
    side.ask(play.Read(asked), Done)
    return end
