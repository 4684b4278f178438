"""What a race has found of one candidate, and how much of it may be claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from grader.domain.speed import Comparison, Machine, Measured, RaceTimes
from grader.referee.timing.contender import EAGER
from grader.referee.timing.cross_check import BlockPair, Blocks
from grader.referee.timing.interval import Interval, Pairs, interval, spread

if TYPE_CHECKING:
    from grader.referee.timing.plan import Plan


@dataclass(slots=True)
class RaceResult:
    """One candidate of a race.

    Attributes:
        submission: Its blocks of single calls.
        baselines: Those of the baselines by name; the first is the one that counts.
        plan: How much was timed.
        block_pairs: Its blocks, each beside one of a baseline or of another candidate, by name; in seconds of
            calls, less the overhead of events.
        rounds: Of two blocks of each contender.
        overhead_s: Between two events with nothing in between.
        machine: The GPU's state meanwhile.
        compared: Results of timed calls that were compared.
        back_to_back: Blocks whose calls follow each other, of each pair of processes.
        groups: For each pair of blocks, the number of the pair of processes that it comes from.
        confirmed: For each pair of blocks, whether the wall clock confirms it.
        clear: Whether a ratio is claimed.
        why: If it is not: why, for a student.
    """

    submission: Blocks
    baselines: dict[str, Blocks]
    plan: Plan
    block_pairs: dict[str, Pairs]
    rounds: int = 0
    overhead_s: float = 0.0
    machine: Machine = field(default_factory=Machine)
    compared: int = 0
    back_to_back: list[BlockPair] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    confirmed: list[bool] = field(default_factory=list)
    clear: bool = True
    why: str = ""

    def against(self, name: str = EAGER, *, sampling: bool = False) -> Interval:
        """How many times as fast as that baseline; ``sampling``: as if processes were all alike.

        Pairs of blocks that the wall clock does not confirm are left out, unless it confirms too few.
        """
        process_share = 0.0
        if self.submission.calls and not sampling:
            own_s = median(self.submission.seconds)
            process_share = math.hypot(self.plan.process_s / own_s, self.plan.share)
        pairs, groups = self.block_pairs[name], self.groups
        if self.clear and self.confirmed:
            pairs = [p for p, good in zip(pairs, self.confirmed, strict=True) if good]
            groups = [g for g, good in zip(groups, self.confirmed, strict=True) if good]
        found = interval(pairs, groups, process_share, between=not sampling)
        return found if self.clear else replace(found, clear=False)

    def times(self) -> RaceTimes:
        """Claims and wall times of all blocks of submission and reference, for a verdict."""
        found = RaceTimes(self.submission.times(), self.baselines[EAGER].times())
        if not self.back_to_back:
            return found
        own, eager = Blocks(), Blocks()
        for pair in self.back_to_back:
            own.extend(pair[0])
            eager.extend(pair[1])
        return RaceTimes(found.submission, found.reference, RaceTimes(own.times(), eager.times()))

    def speed(self, device: str, method: str, processes: int) -> Measured:
        """The verdict's speed; ``processes``: so many took part."""
        eager = self.against()
        return Measured(
            device=device,
            method=method,
            seconds=spread(self.submission.seconds),
            eager_seconds=spread(self.baselines[EAGER].seconds),
            whole_ratio=eager.ratio,
            interval=[eager.low, eager.high],
            outcome=eager.outcome,
            rounds=self.rounds,
            processes=processes,
            compared=self.compared,
            clocks_apart=self.submission.unexplained() - self.baselines[EAGER].unexplained(),
            confirmed=sum(self.confirmed),
            blocks=self.times(),
            baselines={name: self._comparison(name) for name in self.baselines},
            machine=self.machine,
            why=self.why,
        )

    def unlike_s(self) -> float:
        """Seconds by which pairs of processes differ, less what blocks explain; NaN for one. To report."""
        own_s = median(self.submission.seconds)
        logs = np.array([math.log(median(b) / median(a)) for a, b in self.block_pairs[EAGER]])
        groups = [logs[np.array(self.groups) == g] for g in sorted(set(self.groups))]
        if len(groups) < 2:
            return math.nan
        means = np.array([g.mean() for g in groups])
        within = float(np.mean([g.var(ddof=1) / len(g) for g in groups]))
        return own_s * math.sqrt(max(0.0, float(means.var(ddof=1)) - within))

    def _comparison(self, name: str) -> Comparison:
        found = self.against(name)
        return Comparison(
            spread(self.baselines[name].seconds), found.ratio, [found.low, found.high], found.outcome
        )
