"""A closer look by the referee's clock: several calls in a row, and a reference whose calls wait.

Between two calls a block makes new inputs and overwrites the cache, which takes the host some hundred
microseconds, now more and now less. If the calls of all sets follow each other, and only then the cache is
overwritten, several calls share that, and what is missing in each of them stands out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from grader.clock import witness
from grader.clock.lineup import EAGER, OWN, Start, Track
from grader.clock.order import order, seed_of
from grader.clock.results import compare
from grader.clock.witness import Blocks, Testimony

if TYPE_CHECKING:
    from grader.referee.conduct import Match

AFTER = 4  # blocks of the reference for a second look
Pair = tuple[Blocks, Blocks]


def in_rows(match: Match, start: Start, count: int) -> tuple[Pair, int]:
    """So many blocks of submission and reference whose calls follow each other, and results compared.

    In turns, A B B A; after each call the device is waited for. Raises FaultError if a result is not the
    reference's: who takes a row for something that is only timed, and not looked at, is wrong.
    """
    mine, eager = Track(OWN, start.mine.player), Track(EAGER, start.eager.player)
    sides, compared = [mine, eager], 0
    for turn in range(count):
        if turn % 2 == 0:
            match.rng.shuffle(sides)
        numbers, seed = in_sets(start, match.rng), seed_of(match.rng)
        for track in sides[:: 1 - 2 * (turn % 2)]:
            _block(track, start, numbers, seed, start.plan.sets, drain=True)
        compared += compare(mine, eager, len(numbers), start.outputs, start.bound)
    return (mine.blocks, eager.blocks), compared


def in_sets(start: Start, rng: np.random.Generator) -> list[int]:
    """The sets of a block's calls: whole rows of them, each with every set once."""
    found, sets = order(start.plan, rng), start.plan.sets
    return found[: len(found) // sets * sets]


def hear(
    match: Match, singles: Sequence[Pair], rows: Sequence[Pair], trusted: Sequence[Start], *, drain: bool
) -> Testimony:
    """What the clocks say of single calls of each pair of processes, and of rows, where there are any.

    Before they accuse, the reference is looked at while its calls wait for the device.
    """
    said = _look(match, singles, trusted, 1, drain=drain)
    if not rows:
        return said
    return witness.agreed(said, _look(match, rows, trusted, trusted[0].plan.sets, drain=drain))


def _look(
    match: Match, pairs: Sequence[Pair], trusted: Sequence[Start], row: int, *, drain: bool
) -> Testimony:
    said = witness.testimony(pairs)
    if not said.accuses:
        return said
    waiting = [afterwards(match, start, row, drain=drain, waits=True) for start in trusted]
    return witness.testimony(pairs, waiting)


def afterwards(match: Match, start: Start, row: int = 1, **how: bool) -> Blocks:
    """Blocks of the reference that are no part of a race, with so many calls in a ``row``."""
    eager = Track(EAGER, start.eager.player)
    for _ in range(AFTER):
        numbers = order(start.plan, match.rng) if row == 1 else in_sets(start, match.rng)
        _block(eager, start, numbers, seed_of(match.rng), row, **how)
    return eager.blocks


def _block(track: Track, start: Start, numbers: list[int], seed: int, row: int, **how: bool) -> None:
    # As often as it takes to keep the device busy until the host has made the calls of a row.
    times, fresh = row * start.times, start.plan.fresh_for(start.eager_seconds)
    track.block(numbers, seed, times, fresh, row=row, **how)
