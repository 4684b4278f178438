"""The ratio of two medians with a 95 % interval, and what may be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

import numpy as np

RESAMPLES = 4000
NOISY = 0.01  # half width of an interval, as a fraction, beyond which "no difference" says nothing
Pairs = list[tuple[list[float], list[float]]]


@dataclass(frozen=True, slots=True)
class Interval:
    """``ratio``: how many times faster; between ``low`` and ``high`` with 95 % confidence."""

    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def half_width(self) -> float:
        """Half of the interval's length as a fraction of the ratio."""
        return (self.high - self.low) / 2 / self.ratio

    @property
    def outcome(self) -> str:
        """ "faster" or "slower" only when the interval excludes 1, "same", or "too noisy to tell"."""
        if self.low > 1:
            return "faster"
        if self.high < 1:
            return "slower"
        return "same" if self.half_width <= NOISY else "too noisy to tell"

    def beyond(self, target: float) -> bool:
        """Whether the whole interval is at or above ``target``."""
        return self.low >= target


def interval(pairs: Pairs) -> Interval:
    """From pairs of blocks that ran one after the other: seconds of calls of the one, and of the baseline.

    Each pair gives a ratio of medians (baseline over own). The estimate is their geometric mean; the
    interval is a studentised bootstrap over pairs (Efron and Tibshirani, An Introduction to the Bootstrap,
    12.5), which keeps its coverage for a dozen pairs, where percentiles alone are too narrow. Resampled with
    a fixed seed: the same times give the same interval.
    """
    logs = np.array([math.log(median(theirs) / median(own)) for own, theirs in pairs])
    n, mean = len(logs), float(logs.mean())
    if n < 3:
        return Interval(math.exp(mean), 0.0, math.inf, n)
    error = float(logs.std(ddof=1)) / math.sqrt(n)
    if error == 0.0:
        return Interval(math.exp(mean), math.exp(mean), math.exp(mean), n)
    rng = np.random.default_rng(0)
    drawn = logs[rng.integers(0, n, (RESAMPLES, n))]
    errors = drawn.std(axis=1, ddof=1) / math.sqrt(n)
    # A resample of nearly equal values has next to no spread; it must not make the interval endless.
    t = (drawn.mean(axis=1) - mean) / np.maximum(errors, error / 10)
    low, high = np.quantile(t, [0.025, 0.975])
    return Interval(
        math.exp(mean), math.exp(mean - float(high) * error), math.exp(mean - float(low) * error), n
    )


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds of single calls: median, 10th and 90th percentile, how many."""

    median: float
    p10: float
    p90: float
    n: int

    def as_json(self) -> dict[str, float]:
        """For the verdict."""
        return {"median": self.median, "p10": self.p10, "p90": self.p90, "n": self.n}


def spread(seconds: list[float]) -> Spread:
    """Of the calls of one contender."""
    low, middle, high = np.quantile(seconds, [0.1, 0.5, 0.9])
    return Spread(float(middle), float(low), float(high), len(seconds))
