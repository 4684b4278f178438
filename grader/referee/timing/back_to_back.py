"""A closer look by the referee's clock: calls that follow each other, after work that can be checked.

Between two single calls the player overwrites the cache for longer than a short call takes, so what the
referee's clock sees is mostly that; and a process that left some of it out would have as much time to hide
work in. A back-to-back block begins with busy work whose result is told
(:mod:`grader.player.timing.busy_work`), as long as the host needs to ask for all calls. Then they follow each
other, each with inputs of its own, and nothing else is timed: what is hidden in each of them adds up, and
what one host takes longer than another is shared by all.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing import setup
from grader.referee.timing.contender import EAGER, OWN, BusyWork, Contender, positive
from grader.referee.timing.plan import call_order, new_seed
from grader.referee.timing.setup import HOST_MARGIN, ProcessPair
from grader.referee.timing.timed_results import compare, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from grader.referee.timing.cross_check import BlockPair

FEWEST_CALLS, MOST_CALLS = 4, 64  # of a block
KEPT_BYTES, KEPT_SHARE = 1 << 30, 1 / 32  # of results that a block keeps; of the device's memory at most
SPAN_S = 12e-3  # that a block of the reference's calls takes, about
LONGEST_BUSY_S = 40e-3  # of the work before it
COMPARED_CALLS = 3  # whose results travel to the referee; nobody knows which until all are made
SAME_WORK = 1e-9  # two libraries of the same matrix product, and float32 would be off by 1e-7


def block_length(pair: ProcessPair) -> int:
    """How many calls fit into memory and time."""
    kept_bytes = min(KEPT_BYTES, int(KEPT_SHARE * pair.memory_bytes))
    most = min(MOST_CALLS, kept_bytes // max(size(pair.outputs), 1), int(SPAN_S / pair.eager_s))
    return max(FEWEST_CALLS, most)


@dataclass(slots=True)
class _Row:
    """One block of a submission and one of its reference, in the order of ``turns``."""

    pair: ProcessPair
    own: Contender
    eager: Contender
    turns: list[Contender] = field(default_factory=list)

    def jobs(self, length: int) -> list[functools.partial[None]]:
        """What prepares its processes, where that takes a while."""
        fresh = self.pair.plan.fresh_for(self.pair.eager_s)
        size = self.pair.busy_size
        return [functools.partial(c.prepare, length, fresh, size) for c in self.turns if fresh]


def run_blocks(
    rng: np.random.Generator, pairs: Sequence[ProcessPair], count: int, length: int,
    into: Sequence[BlockPair], *, drain: bool,
) -> int:  # fmt: skip
    """``count`` blocks of ``length`` calls of each pair, of submission and reference in turns, A B B A.

    The pairs take turns, too: while results of one are compared, the next is prepared, and nobody is timed.
    ``drain``: after each call the device is waited for. Answers how many results were compared.

    Raises:
        FaultError: If a result is not the reference's, or ``tampered`` if the process has not done the work
            that comes before a block.
    """
    each = [
        (pair, Contender(OWN, pair.submission.side, mine), Contender(EAGER, pair.reference.side, theirs))
        for pair, (mine, theirs) in zip(pairs, into, strict=True)
    ]
    rows = _in_turns(rng, each, count)
    compared = 0
    setup.at_once(*rows[0].jobs(length))
    for row, following in itertools.pairwise([*rows, None]):
        assert row is not None
        comparison = _timed(rng, row, length, drain=drain)
        apart = following is not None and following.pair is not row.pair
        (more, *_) = setup.at_once(comparison, *(following.jobs(length) if following and apart else ()))
        compared += more or 0
    free = [  # the memory for results
        functools.partial(contender.prepare, 0, pair.plan.fresh_for(pair.eager_s))
        for pair, *both in each
        for contender in both
    ]
    setup.at_once(*free)
    return compared


def _in_turns(
    rng: np.random.Generator, each: Sequence[tuple[ProcessPair, Contender, Contender]], count: int
) -> list[_Row]:
    """``count`` rows of each pair: the first ones of all, then the second ones, in the other order, ..."""
    rows: list[_Row] = []
    for number in range(count):
        for pair, own, eager in each:
            forth = [own, eager]
            if number % 2:
                forth = rows[-len(each)].turns[::-1]
            else:
                rng.shuffle(forth)
            rows.append(_Row(pair, own, eager, forth))
    return rows


def _timed(rng: np.random.Generator, row: _Row, length: int, *, drain: bool) -> functools.partial[int]:
    """Both blocks; what compares some of their results, which nobody knew before."""
    pair, own, eager = row.pair, row.own, row.eager
    numbers, seed = drawn_calls(pair, length, rng)
    for contender in row.turns:
        run_block(contender, pair, numbers, seed, drain=drain)
    if not same_work(own.busy_work, eager.busy_work):
        raise FaultError(Status.TAMPERED, "The work that comes before a row of timed calls was not done.")
    some = sorted(int(n) for n in rng.choice(length, min(COMPARED_CALLS, length), replace=False))
    return functools.partial(compare, own, eager, some, length, pair.outputs, pair.bound)


def drawn_calls(pair: ProcessPair, length: int, rng: np.random.Generator) -> tuple[list[int], int]:
    """The sets of a block's calls, and the seed of their inputs."""
    return call_order(replace(pair.plan, calls=length), rng), new_seed(rng)


def same_work(told: Any, right: Any) -> bool:
    """Whether a process tells the same result of the busy work before a block as the reference's."""
    both = [*told, *right] if isinstance(told, list) and isinstance(right, list) else []
    if len(both) != 2 or not all(map(positive, both)):
        return False
    own, wanted = map(float, both)
    return abs(own - wanted) <= SAME_WORK * wanted


def run_block(
    contender: Contender, pair: ProcessPair, numbers: list[int], seed: int, *, drain: bool,
    waits: bool = False,
) -> None:  # fmt: skip
    """One block; ``waits``: of calls that wait for the device themselves."""
    busy_s = min(LONGEST_BUSY_S, HOST_MARGIN * pair.host_s * len(numbers))
    work = BusyWork(pair.busy_size, max(1, math.ceil(busy_s / pair.busy_step_s)))
    fresh = pair.plan.fresh_for(pair.eager_s)
    contender.run_block(numbers, seed, fresh=fresh, busy_work=work, drain=drain, waits=waits)
