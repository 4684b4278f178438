"""The ratio of two medians with a 95 % interval, and what may be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.domain.speed import Outcome, Spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 4000
NOISY = 0.01  # half width of an interval, as a fraction, beyond which "no difference" says nothing
NORMAL = 1.96
Pairs = list[tuple[list[float], list[float]]]


@dataclass(frozen=True, slots=True)
class Interval:
    """``ratio``: how many times faster; between ``low`` and ``high`` with 95 % confidence.

    ``clear``: false where the two clocks disagree too much for the ratio to be claimed.
    """

    ratio: float
    low: float
    high: float
    pairs: int
    clear: bool = True

    @property
    def half_width(self) -> float:
        """Half of the interval's length as a fraction of the ratio."""
        return (self.high - self.low) / 2 / self.ratio

    @property
    def outcome(self) -> Outcome:
        """ "faster" or "slower" only when the interval excludes 1, "same", or "too noisy to tell"."""
        if not self.clear:
            return "too noisy to tell"
        if self.low > 1:
            return "faster"
        if self.high < 1:
            return "slower"
        return "same" if self.half_width <= NOISY else "too noisy to tell"

    def beyond(self, target: float) -> bool:
        """Whether the whole interval is at or above ``target``."""
        return self.clear and self.low >= target


def interval(
    pairs: Pairs, groups: list[int] | None = None, process_share: float = 0.0, *, between: bool = True
) -> Interval:
    """From pairs of blocks that ran one after the other: seconds of calls of the one, and of the baseline.

    Each pair gives a ratio of medians (baseline over own). The estimate is the geometric mean of the groups'
    geometric means; a group is the pairs of blocks of one pair of processes. Two sources of error
    are added up:

    - blocks: a studentised bootstrap over pairs within each group (Efron and Tibshirani, An Introduction to
      the Bootstrap, 12.5). It keeps its coverage for a dozen pairs, where percentiles alone are too narrow.
      It is resampled with a fixed seed: the same times give the same interval;
    - processes: the same kernel in two processes differs by a little that no number of blocks averages out.
      ``process_share`` is the standard deviation of that, as a fraction, known beforehand; where the groups
      lie further apart than it says, what they show counts. Left out if ``between`` is false.
    """
    logs = np.array([math.log(median(theirs) / median(own)) for own, theirs in pairs])
    numbers = np.array(groups) if groups else np.zeros(len(logs), int)
    parts = [logs[numbers == g] for g in sorted(set(numbers.tolist()))]
    means = np.array([part.mean() for part in parts])
    mean = float(means.mean())
    if len(logs) < 3 or min(map(len, parts)) < 2:
        return Interval(math.exp(mean), 0.0, math.inf, len(logs))
    below, above = _blocks(parts, mean)
    spread = _processes(parts, means, process_share) if between else 0.0
    below, above = math.hypot(below, spread), math.hypot(above, spread)
    return Interval(math.exp(mean), math.exp(mean - below), math.exp(mean + above), len(logs))


def _blocks(parts: list[NDArray[Any]], mean: float) -> tuple[float, float]:
    """How far the interval reaches down and up for what blocks of one process differ by."""

    def error_of(drawn: list[NDArray[Any]]) -> NDArray[Any]:
        squares = [d.var(axis=-1, ddof=1) / d.shape[-1] for d in drawn]
        return np.asarray(np.sqrt(sum(squares)) / len(drawn))

    error = float(error_of(parts))
    if error == 0.0:
        return 0.0, 0.0
    rng = np.random.default_rng(0)
    drawn = [part[rng.integers(0, len(part), (RESAMPLES, len(part)))] for part in parts]
    middle = np.mean([d.mean(axis=1) for d in drawn], axis=0)
    # A resample of nearly equal values has next to no spread; it must not make the interval endless.
    t = (middle - mean) / np.maximum(error_of(drawn), error / 10)
    low, high = np.quantile(t, [0.025, 0.975])
    return max(0.0, float(high) * error), max(0.0, -float(low) * error)


def _processes(parts: list[NDArray[Any]], means: NDArray[Any], known: float) -> float:
    """How far it reaches to either side for what processes differ by."""
    seen = 0.0
    if len(parts) > 2:
        explained = float(np.mean([part.var(ddof=1) / len(part) for part in parts]))
        seen = math.sqrt(max(0.0, float(means.var(ddof=1)) - explained))
    return NORMAL * max(known, seen) / math.sqrt(len(parts))


def spread(seconds: list[float]) -> Spread:
    """Of the calls of one contender."""
    low, middle, high = np.quantile(seconds, [0.1, 0.5, 0.9])
    return Spread(float(middle), float(low), float(high), len(seconds))
