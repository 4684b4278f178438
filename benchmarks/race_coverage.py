"""How often the interval of a race holds the truth, by the rule that says when a race is over. Needs no GPU.

    python benchmarks/race_coverage.py OUT.json [RACES]

Times are made up, with the noise that was measured on H200s; what is looked at is the grader's own plan,
interval and rule. In each race a call is raced with itself, so that its interval should hold 1: 95 times of
100, and 93 at the least. ``blocks alone``: the part of the interval that the rule looks at, where processes
do not differ. ``earlier rule``: rounds until the interval is narrow or six seconds are over; a quarter of the
races, to compare widths and rounds.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.referee.timing.contender import EAGER  # noqa: E402
from grader.referee.timing.cross_check import Blocks  # noqa: E402
from grader.referee.timing.plan import Plan  # noqa: E402
from grader.referee.timing.race_result import RaceResult  # noqa: E402
from tools.result_facts import facts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Noise:
    """A call and what its times differ by.

    Attributes:
        call_s: Seconds that it takes.
        calls: Of a block.
        round_s: Seconds of a round of one group, with all that belongs to it.
        within: Standard deviation of calls of one block, as a share.
        between: The same of blocks.
        process_s: Of processes, in seconds.
        tails: Degrees of freedom of the blocks' distribution; 0: normal.
        drift: By which share calls get slower in a second.
    """

    call_s: float
    calls: int
    round_s: float
    within: float
    between: float
    process_s: float = 1e-7
    tails: int = 0
    drift: float = 0.0


# Lesson 03 by the spread of its single calls and the width of its intervals (results/bench.json and
# results/gpu_check.json), the kernel and the model by the blocks of results/clocks.json.
LESSON_03 = Noise(63e-6, 4, 0.09, 0.016, 0.007)
NOISES = {
    "lesson 03": LESSON_03,
    "lesson 03, on a slow host": replace(LESSON_03, round_s=0.3),
    "lesson 03, heavy tails": replace(LESSON_03, tails=3),
    "lesson 03, a GPU that warms up": replace(LESSON_03, drift=0.01),
    "kernel of 21 us": Noise(21e-6, 40, 0.17, 0.004, 0.0026),
    "model of 2.7 ms": Noise(2.7e-3, 4, 0.15, 0.0005, 0.0005, process_s=6e-7),
}
EARLIER = Plan(2, 4, soon_half_width=0.002)


def rounds(noise: Noise, plan: Plan, rng: np.random.Generator) -> Iterator[tuple[RaceResult, int, float]]:
    """A race as it goes on: the result so far, rounds, and seconds, after a round of each group."""
    groups = plan.pairs_for(noise.call_s)
    bias = noise.process_s / noise.call_s * rng.standard_normal((groups, 2))
    result = RaceResult(Blocks(), {EAGER: Blocks()}, plan, {EAGER: []})
    seconds, done = 0.0, 0
    while True:
        turns = [rng.permutation(2) for _ in range(groups)]
        for back in (False, True):
            for group in range(groups):
                pair: list[list[float]] = [[], []]
                for side in turns[group][::-1] if back else turns[group]:
                    seconds += noise.round_s / 4
                    slower = (1 + bias[group, side]) * (1 + noise.drift * seconds)
                    pair[side] = list(noise.call_s * slower * _block(noise, rng))
                result.submission.add(pair[0], 0.0)
                result.block_pairs[EAGER].append((pair[0], pair[1]))
                result.groups.append(group)
        done += groups
        yield result, done, seconds


def _block(noise: Noise, rng: np.random.Generator) -> Any:
    """The times of a block's calls, 1 on average."""
    scale = math.sqrt((noise.tails - 2) / noise.tails) if noise.tails else 1.0
    block = rng.standard_t(noise.tails) * scale if noise.tails else rng.standard_normal()
    return 1 + noise.between * block + noise.within * rng.standard_normal(noise.calls)


def race(noise: Noise, plan: Plan, seed: int) -> dict[str, Any]:
    """One race until the plan says that it is over."""
    least = max(plan.least_for(noise.call_s), 2 * plan.pairs_for(noise.call_s))
    for result, done, seconds in rounds(noise, plan, np.random.default_rng(seed)):
        if done >= least and plan.over(
            done, seconds, plan.limit_s, lambda now=result: now.against(sampling=True).half_width
        ):
            found = result.against()
            return {"low": found.low, "high": found.high, "rounds": done, "seconds": seconds}
    raise AssertionError("a plan ends")


def summary(noise: Noise, plan: Plan, count: int) -> dict[str, Any]:
    """Of races with the seeds 0 to ``count``."""
    alike = replace(noise, process_s=0.0), replace(plan, process_s=0.0, share=0.0)
    found, blocks = [race(noise, plan, n) for n in range(count)], [race(*alike, n) for n in range(count)]
    return {
        "races": count,
        "holds 1": _holding(found),
        "holds 1, blocks alone": _holding(blocks),
        "median half width": round(median((r["high"] - r["low"]) / 2 for r in found), 5),
        "median rounds": median(r["rounds"] for r in found),
        "median seconds": round(median(r["seconds"] for r in found), 2),
    }


def _holding(races: list[dict[str, Any]]) -> float:
    return round(sum(r["low"] <= 1 <= r["high"] for r in races) / len(races), 4)


def main(out: Path, count: int = 400) -> None:
    """All noises by both rules; the file is written after each."""
    made = facts(f"python benchmarks/race_coverage.py OUT.json {count}", "numpy") | {"noises": {}}
    for name, noise in NOISES.items():
        sized = {"sets": 2, "calls": noise.calls}
        both = {"rule": Plan(**sized), "earlier rule": replace(EARLIER, **sized)}
        numbers = zip(both.items(), (count, -(-count // 4)), strict=True)
        made["noises"][name] = {rule: summary(noise, plan, races) for (rule, plan), races in numbers}
        print(name, json.dumps(made["noises"][name]), flush=True)
        out.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
