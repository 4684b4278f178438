"""A closer look by the referee's clock: calls that follow each other, after work that can be checked.

Between two single calls the player overwrites the cache for longer than a short call takes, so what the
referee's clock sees is mostly that; and a process that left some of it out would have as much time to hide
work in. A row of calls begins with work whose result is told (:mod:`grader.player.lead`), as long as the host
needs to ask for all of them. Then they follow each other, each with inputs of its own, and nothing else is
timed: what is hidden in each of them adds up, and what one host takes longer than another is shared by all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from grader.clock import witness
from grader.clock.lineup import EAGER, LEAD, OWN, Start, Track, positive
from grader.clock.order import order, seed_of
from grader.clock.plan import SHORT
from grader.clock.results import compare, size
from grader.clock.witness import Blocks, Testimony
from grader.referee.fault import FaultError
from grader.verdict import Status

if TYPE_CHECKING:
    from grader.referee.conduct import Match

AFTER = 4  # blocks of the reference for a second look
BLOCKS, LONG_BLOCKS = 24, 4  # of each side, for all pairs of processes together
LONG = 100e-6  # seconds of a call
FEWEST, MOST = 4, 32  # calls in a row
ROOM = 512 << 20  # bytes of results that a row keeps
SPAN = 20e-3  # seconds that a row of the reference's calls takes, about
LONGEST = 40e-3  # of the work before it
LOOKED = 3  # results of a row that travel to the referee; nobody knows which until all are made
SAME = 1e-9  # two libraries of the same matrix product, and float32 would be off by 1e-7
Pair = tuple[Blocks, Blocks]


def calls(start: Start) -> int:
    """How many are in a row: as many as fit into memory and time."""
    most = min(MOST, ROOM // max(size(start.outputs), 1), int(SPAN / start.eager_seconds))
    return max(FEWEST, most)


def in_rows(match: Match, starts: Sequence[Start], *, drain: bool) -> tuple[list[Pair], int]:
    """Rows of submission and reference of each pair of processes in turns, A B B A; how many were compared.

    ``drain``: after each call the device is waited for. Raises FaultError if a result is not the
    reference's, or ``tampered`` if a process has not done the work that comes before a row.
    """
    found, compared = [], 0
    for start in starts:
        short = start.eager_seconds < SHORT
        count = max(LONG_BLOCKS, BLOCKS // len(starts)) if short else LONG_BLOCKS
        pair, looked = _in_rows(match, start, count, drain=drain)
        found.append(pair)
        compared += looked
    return found, compared


def _in_rows(match: Match, start: Start, count: int, *, drain: bool) -> tuple[Pair, int]:
    mine, eager = Track(OWN, start.mine.player), Track(EAGER, start.eager.player)
    sides, compared, length = [mine, eager], 0, calls(start)
    for turn in range(count):
        if turn % 2 == 0:
            match.rng.shuffle(sides)
        numbers, seed = order(replace(start.plan, calls=length), match.rng), seed_of(match.rng)
        for track in sides[:: 1 - 2 * (turn % 2)]:
            _block(track, start, numbers, seed, drain=drain)
        if not led(mine.lead, eager.lead):
            raise FaultError(Status.TAMPERED, "The work that comes before a row of timed calls was not done.")
        some = sorted(int(n) for n in match.rng.choice(length, min(LOOKED, length), replace=False))
        compared += compare(mine, eager, some, length, start.outputs, start.bound)
    return (mine.blocks, eager.blocks), compared


def long(own: Blocks) -> bool:
    """Whether a call takes so long that what one loop takes longer than another is little of it."""
    return median(own.seconds) >= LONG


def led(said: Any, right: Any) -> bool:
    """Whether a process tells the same result of the work before a row as the reference's."""
    told = [*said, *right] if isinstance(said, list) and isinstance(right, list) else []
    if len(told) != 2 or not all(map(positive, told)):
        return False
    own, wanted = map(float, told)
    return abs(own - wanted) <= SAME * wanted


def hear(
    match: Match, singles: Sequence[Pair], rows: Sequence[Pair], trusted: Sequence[Start], *,
    drain: bool, row_drain: bool,
) -> Testimony:  # fmt: skip
    """What the clocks say of single calls of each pair of processes, and of rows.

    Before they accuse, the reference is looked at while its calls wait for the device.
    """
    said = _look(match, singles, trusted, drain=drain)
    return witness.agreed(said, _look(match, rows, trusted, row=calls(trusted[0]), drain=row_drain))


def _look(
    match: Match, pairs: Sequence[Pair], trusted: Sequence[Start], *, row: int = 0, drain: bool
) -> Testimony:
    said = witness.testimony(pairs, row=row)
    if not said.accuses:
        return said
    waiting = [afterwards(match, start, row, drain=drain, waits=True) for start in trusted]
    return witness.testimony(pairs, waiting, row=row)


def afterwards(
    match: Match, start: Start, row: int = 0, *, drain: bool = False, waits: bool = False
) -> Blocks:
    """Blocks of the reference that are no part of a race, with so many calls in a ``row``."""
    eager = Track(EAGER, start.eager.player)
    for _ in range(AFTER):
        if row:
            numbers = order(replace(start.plan, calls=row), match.rng)
            _block(eager, start, numbers, seed_of(match.rng), drain=drain, waits=waits)
        else:
            fresh = start.plan.fresh_for(start.eager_seconds)
            numbers, seed = order(start.plan, match.rng), seed_of(match.rng)
            eager.block(numbers, seed, start.times, fresh, drain=drain, waits=waits)
    return eager.blocks


def _block(
    track: Track, start: Start, numbers: list[int], seed: int, *, drain: bool, waits: bool = False
) -> None:
    seconds = min(LONGEST, LEAD * start.host * len(numbers))
    side, step = start.step
    lead = (side, max(1, math.ceil(seconds / step)))
    fresh = start.plan.fresh_for(start.eager_seconds)
    track.block(numbers, seed, 0, fresh, lead, drain=drain, waits=waits)
