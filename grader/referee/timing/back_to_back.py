"""A closer look by the referee's clock: calls that follow each other, after work that can be checked.

Between two single calls the player overwrites the cache for longer than a short call takes, so what the
referee's clock sees is mostly that; and a process that left some of it out would have as much time to hide
work in. A row of calls begins with work whose result is told (:mod:`grader.player.timing.busy_work`), as long
as the host needs to ask for all of them. Then they follow each other, each with inputs of its own, and
nothing else is timed: what is hidden in each of them adds up, and what one host takes longer than another is
shared by all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing.cross_check import Blocks
from grader.referee.timing.order import order, seed_of
from grader.referee.timing.setup import LEAD, Start
from grader.referee.timing.timed_results import compare, size
from grader.referee.timing.track import EAGER, OWN, Track, positive

if TYPE_CHECKING:
    from grader.referee.session import Session

FEWEST, MOST = 4, 64  # calls in a row
ROOM, SHARE = 1 << 30, 1 / 32  # bytes of results that a row keeps; of the device's memory at most
SPAN = 12e-3  # seconds that a row of the reference's calls takes, about
LONGEST = 40e-3  # of the work before it
LOOKED = 3  # results of a row that travel to the referee; nobody knows which until all are made
SAME = 1e-9  # two libraries of the same matrix product, and float32 would be off by 1e-7
Pair = tuple[Blocks, Blocks]


def calls(start: Start) -> int:
    """How many are in a row: as many as fit into memory and time."""
    room = min(ROOM, int(SHARE * start.memory))
    most = min(MOST, room // max(size(start.outputs), 1), int(SPAN / start.eager_seconds))
    return max(FEWEST, most)


def in_rows(session: Session, start: Start, count: int, length: int, into: Pair, *, drain: bool) -> int:
    """So many rows of so many calls, of submission and reference in turns, A B B A.

    Answers how many results were compared.
    ``drain``: after each call the device is waited for. Raises FaultError if a result is not the reference's,
    or ``tampered`` if the process has not done the work that comes before a row.
    """
    mine, eager = Track(OWN, start.mine.player, into[0]), Track(EAGER, start.eager.player, into[1])
    sides, compared = [mine, eager], 0
    for turn in range(count):
        if turn % 2 == 0:
            session.rng.shuffle(sides)
        numbers, seed = numbered(start, length, session.rng)
        for track in sides[:: 1 - 2 * (turn % 2)]:
            row(track, start, numbers, seed, drain=drain)
        if not led(mine.lead, eager.lead):
            raise FaultError(Status.TAMPERED, "The work that comes before a row of timed calls was not done.")
        some = sorted(int(n) for n in session.rng.choice(length, min(LOOKED, length), replace=False))
        compared += compare(mine, eager, some, length, start.outputs, start.bound)
    for track in sides:  # what was room for results is free again
        track.ask("prepare", calls=0, fresh=start.plan.fresh_for(start.eager_seconds))
    return compared


def numbered(start: Start, length: int, rng: np.random.Generator) -> tuple[list[int], int]:
    """The sets of a row's calls, and the seed of their inputs."""
    return order(replace(start.plan, calls=length), rng), seed_of(rng)


def led(said: Any, right: Any) -> bool:
    """Whether a process tells the same result of the work before a row as the reference's."""
    told = [*said, *right] if isinstance(said, list) and isinstance(right, list) else []
    if len(told) != 2 or not all(map(positive, told)):
        return False
    own, wanted = map(float, told)
    return abs(own - wanted) <= SAME * wanted


def row(
    track: Track, start: Start, numbers: list[int], seed: int, *, drain: bool, waits: bool = False
) -> None:
    """One row; ``waits``: calls that wait for the device themselves."""
    seconds = min(LONGEST, LEAD * start.host * len(numbers))
    side, step = start.step
    lead = (side, max(1, math.ceil(seconds / step)))
    fresh = start.plan.fresh_for(start.eager_seconds)
    track.block(numbers, seed, 0, fresh, lead, drain=drain, waits=waits)
