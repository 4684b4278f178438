"""How much is timed: sets of inputs, calls in a block, rounds; from the sizes of the call's tensors."""

from __future__ import annotations

from dataclasses import dataclass

KEPT = 128 << 20  # bytes of results that a block keeps: they all travel to the referee and are compared
FLUSH = 256 << 20  # bytes written before each call: more than any card's L2 cache holds
SETS, CALLS = 8, 40
SHORT = 300e-6  # seconds of a call below which it matters which process makes it
# From benchmarks/results/placement.json (eight processes on an H200). If nothing is moved about, some blocks
# come out several times as long, and the processes' means differ by 5.9 us on a kernel of 20 us. If memory
# and events are, by a standard deviation of 0.06, 0.09 and 0.11 us on three kernels, 0.1 together; submission
# and reference are two of them: 0.14 us. The mean of three pairs is then wrong by 0.16 us one time in twenty,
# 0.8 % of 20 us: a change of 2 % is seen. Since nothing but the call itself waits in the queue, 24 processes
# lie 0.08 us apart (roles.json); the races of clocks.json were run with what is here.
PAIRS = 3
PROCESS = 0.14e-6  # seconds
# A call of milliseconds is raced by one pair of processes. A model of 2.7 ms raced 200 times with itself by
# six pairs lay 0.01 to 0.08 % beside 1, each pair by an amount of its own, 0.04 % in the quadratic mean (two
# runs; benchmarks/results/clocks.json has the last). Six are few: a little more is taken.
SHARE = 5e-4  # of a call
LONG_LEAST = 4  # rounds; so many each of those races had
FRESH = ("memory", "events")


@dataclass(frozen=True, slots=True)
class Plan:
    """``sets`` of inputs in rotation, ``calls`` of a block; rounds from ``least`` on, ended by ``seconds``.

    A round is two blocks of each contender. Rounds are added until the interval's half width is at most
    ``precise`` (a fraction of the ratio). Where to stop depends on the width alone: a rule that looked at the
    ratio would stop when luck makes it look good. ``pairs`` of processes race where calls are short, and
    ``fresh`` is moved about between their blocks; ``process`` and ``share``: seconds, and the
    share of a call, that a pair is known to be wrong by.
    """

    sets: int
    calls: int
    least: int = 6
    most: int = 40
    seconds: float = 6.0
    precise: float = 0.002
    flush: int = FLUSH
    pairs: int = PAIRS
    fresh: tuple[str, ...] = FRESH
    process: float = PROCESS
    share: float = SHARE

    def pairs_for(self, seconds: float) -> int:
        """How many pairs of processes a call of that length needs."""
        return self.pairs if seconds < SHORT else 1

    def least_for(self, seconds: float) -> int:
        """Rounds before the first look at the interval; calls of milliseconds differ by less."""
        return self.least if seconds < SHORT else min(self.least, LONG_LEAST)

    def fresh_for(self, seconds: float) -> tuple[str, ...]:
        """What is moved about between blocks of such calls."""
        return self.fresh if seconds < SHORT else ()


def plan(input_bytes: int, output_bytes: int, l2_bytes: int) -> Plan:
    """The plan for a call that takes and returns so many bytes, on a card with so large a cache.

    All sets together are larger than the cache, and before each call it is overwritten as well. A set is
    used at most half as often as a block has calls, so that no two calls in a row have the same input.
    """
    calls = max(4, min(CALLS, KEPT // max(output_bytes, 1)))
    sets = max(2, min(SETS, calls // 2, -(-l2_bytes // max(input_bytes, 1)) + 1))
    return Plan(sets, calls)
