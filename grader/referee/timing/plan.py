"""How much is timed: sets of inputs, calls in a block, rounds; and in which order a block calls them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_BYTES = 128 << 20  # of results that a block keeps: they all travel to the referee and are compared
FLUSH_BYTES = 256 << 20  # written before each call: more than any card's L2 cache holds
SETS, CALLS = 8, 40
SHORT_CALL_S = 300e-6  # of a call below which it matters which process makes it
# From benchmarks/results/placement.json (eight processes on an H200). If nothing is moved about, some blocks
# come out several times as long, and the processes' means differ by 5.9 us on a kernel of 20 us. If memory
# and events are, by a standard deviation of 0.06, 0.09 and 0.11 us on three kernels, 0.1 together; submission
# and reference are two of them: 0.14 us. The mean of three pairs is then wrong by 0.16 us one time in twenty,
# 0.8 % of 20 us: a change of 2 % is seen. Since nothing but the call itself waits in the queue, 24 processes
# lie 0.08 us apart (roles.json); the races of clocks.json were run with what is here.
PAIRS = 3
PROCESS_S = 0.14e-6
# A call of milliseconds is raced by one pair of processes. A model of 2.7 ms raced 200 times with itself by
# six pairs lay 0.01 to 0.08 % beside 1, each pair by an amount of its own, 0.04 % in the quadratic mean (two
# runs; benchmarks/results/clocks.json has the last). Six are few: a little more is taken.
PROCESS_SHARE = 5e-4  # of a call
LONG_LEAST = 4  # rounds; so many each of those races had
FRESH = ("memory", "events")
SOON = 0.25


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of a call is timed. A round is two blocks of each contender.

    Rounds are added until the interval's half width is at most ``half_width``. Where to stop depends on the
    width alone: a rule that looked at the ratio would stop when luck makes it look good.

    Attributes:
        sets: Of inputs, in rotation.
        calls: Of a block.
        least: Rounds before the first look at the interval.
        most: Rounds at the most.
        limit_s: After so many seconds no round is added.
        half_width: Of the interval, as a fraction of the ratio.
        soon_half_width: The same, which is enough after ``SOON`` of ``limit_s``. About as wide it was, as far
            as blocks are concerned, after six seconds of lesson 03's calls of 63 us on an H200.
        flush_bytes: Written before each call.
        pairs: Of processes that race where calls are short.
        fresh: What is moved about between blocks of short calls.
        process_s: Seconds a call that a pair of processes is known to be wrong by.
        share: The share of a call that it is known to be wrong by, besides.
    """

    sets: int
    calls: int
    least: int = 6
    most: int = 40
    limit_s: float = 6.0
    half_width: float = 0.002
    soon_half_width: float = 0.0045
    flush_bytes: int = FLUSH_BYTES
    pairs: int = PAIRS
    fresh: tuple[str, ...] = FRESH
    process_s: float = PROCESS_S
    share: float = PROCESS_SHARE

    def pairs_for(self, call_s: float) -> int:
        """How many pairs of processes a call of that length needs."""
        return self.pairs if call_s < SHORT_CALL_S else 1

    def least_for(self, call_s: float) -> int:
        """Rounds before the first look at the interval; calls of milliseconds differ by less."""
        return self.least if call_s < SHORT_CALL_S else min(self.least, LONG_LEAST)

    def over(self, rounds: int, seconds: float, limit_s: float, half_width: Callable[[], float]) -> bool:
        """Whether no round is added after these, of which there are enough for a look at the interval.

        Args:
            rounds: Of each contender.
            seconds: That they took.
            limit_s: After so many it is over in any case.
            half_width: Finds that of the interval for what blocks differ by, as a fraction of the ratio.
        """
        if rounds >= self.most or seconds >= limit_s:
            return True
        return half_width() <= (self.half_width if seconds < SOON * limit_s else self.soon_half_width)

    def fresh_for(self, call_s: float) -> tuple[str, ...]:
        """What is moved about between blocks of such calls."""
        return self.fresh if call_s < SHORT_CALL_S else ()


def make_plan(input_bytes: int, output_bytes: int, l2_bytes: int) -> Plan:
    """The plan for a call that takes and returns so many bytes, on a card with so large a cache.

    All sets together are larger than the cache, and before each call it is overwritten as well. A set is
    used at most half as often as a block has calls, so that no two calls in a row have the same input.
    """
    calls = max(4, min(CALLS, KEPT_BYTES // max(output_bytes, 1)))
    sets = max(2, min(SETS, calls // 2, -(-l2_bytes // max(input_bytes, 1)) + 1))
    return Plan(sets, calls)


def call_order(plan: Plan, rng: np.random.Generator) -> list[int]:
    """Numbers of sets: each about equally often, never twice in a row, in an order nobody can foresee."""
    found = np.resize(rng.permutation(plan.sets), plan.calls)
    for at in range(plan.sets, plan.calls, plan.sets):
        fresh = rng.permutation(plan.sets)
        if fresh[0] == found[at - 1]:
            fresh = fresh[::-1]
        found[at : at + plan.sets] = fresh[: plan.calls - at]
    return [int(number) for number in found]


def new_seed(rng: np.random.Generator) -> int:
    """Of a block's inputs, which nobody can foresee; as large as a message can hold without loss."""
    return int(rng.integers(1 << 62))
