"""Fit the predictor's constants on a random half of the measured launches, and test it on the other half.

    python benchmarks/predict_fit.py fit      writes grader/referee/predict/constants.json (about a minute)
    python benchmarks/predict_fit.py library  writes grader/referee/predict/library.json: the framework's
    operators python benchmarks/predict_fit.py page     writes the table and the picture of
    docs/contributing/prediction.md

Times are those of ``predict.py measure`` on an H200 and an H100, counts those of ``predict.py count``. Which
launches are in which half was drawn once, by a seed. One set of constants holds for both GPUs; what differs
between these is on their cards.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grader.domain import gpu_card  # noqa: E402
from grader.protocol.messages import Launch, decode  # noqa: E402
from grader.referee.predict import model, validity  # noqa: E402
from grader.referee.predict.model import Constants  # noqa: E402
from grader.referee.predict.work import Work, work  # noqa: E402

if TYPE_CHECKING:
    from grader.domain.gpu_card import Card

RESULTS = ROOT / "benchmarks" / "results"
CARDS, SEED, STEPS = ("h200", "h100"), 1, 4000
APART = math.log(1.1)  # versions that differ by less are not ranked
# Where the search begins, and between what it stays: what microbenchmarks of such GPUs find, and a unit.
RANGES = {
    "l2": (32, 10, 128, "bytes a cycle and SM"),
    "scattered": (1.5, 1, 4, "whole sectors"), "partial": (4, 1, 8, "whole sectors"),
    "missed": (0.1, 0, 1, "of the sectors read again"), "request": (2, 0.5, 8, "cycles"),
    "piece": (1, 0.5, 4, "cycles"), "wavefront": (1.5, 0.5, 3, "cycles"), "far": (7e-7, 4e-7, 1e-6, "s"),
    "near": (2.6e-7, 1.2e-7, 3.5e-7, "s"), "inner": (1.8e-8, 1.2e-8, 4.5e-8, "s"),
    "shared": (1.4e-8, 1e-8, 3e-8, "s"), "begin": (2e-7, 2e-8, 6e-7, "s"), "warp": (5e-9, 0, 4e-8, "s"),
    "barrier": (2e-8, 2e-9, 8e-8, "s"), "dispatch": (6.15e-10, 3e-10, 7e-10, "s"),
    "launch": (2e-6, 1e-6, 4e-6, "s"), "norm": (3.5, 1.5, 6, ""),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One launch on one card. ``held``: not used by the fit. ``why_not``: why no time is predicted."""

    job: str
    version: str
    card: str
    measured: float
    work: Work
    peaks: Card
    held: bool
    why_not: str

    def predicted(self, c: Constants | None = None) -> float:
        """Seconds."""
        return model.seconds(self.work, self.peaks, c)

    def error(self, c: Constants | None = None) -> float:
        """Of the predicted time, as a fraction of the measured one."""
        return self.predicted(c) / self.measured - 1


@functools.cache
def rows() -> tuple[Row, ...]:
    """All launches on both cards."""
    counted = json.loads((RESULTS / "predict_counts.json").read_text("utf-8"))["launches"]
    fitted = set(random.Random(SEED).sample(range(len(counted)), len(counted) // 2))
    found = []
    for name in CARDS:
        card, times = gpu_card.card(name), json.loads((RESULTS / f"predict_{name}.json").read_text("utf-8"))
        us = {(x["job"], x["version"]): float(x["us"]["median"]) for x in times["launches"]}
        for number, launch in enumerate(counted):
            key = launch["job"], launch["version"]
            made = work(decode({k: v for k, v in launch.items() if k not in ("job", "version")}, Launch))
            assert made is not None
            why = validity.why_not(made, card)
            found.append(Row(*key, name, us[key] * 1e-6, made, card, number not in fitted, why))
    return tuple(found)


def split(*, held: bool) -> list[Row]:
    """The half that is held out, or the one that the fit sees; without launches that are not predicted."""
    return [r for r in rows() if r.held == held and not r.why_not]


def fit(some: list[Row]) -> tuple[Constants, float]:
    """Constants with the least mean |log(predicted / measured)|: a random walk that keeps what helps."""
    rng, values = random.Random(0), [float(v[0]) for v in RANGES.values()]
    bounds = [(v[1], v[2]) for v in RANGES.values()]

    def loss(at: list[float]) -> float:
        c = Constants(*at)
        return sum(abs(math.log(r.predicted(c) / r.measured)) for r in some) / len(some)

    best, step = loss(values), 0.3
    for _ in range(STEPS):
        tried = list(values)
        for k in rng.sample(range(len(values)), rng.choice((1, 1, 2, 3))):
            tried[k] = min(bounds[k][1], max(bounds[k][0], tried[k] * math.exp(rng.gauss(0, step))))
        if (now := loss(tried)) < best:
            best, values, step = now, tried, min(0.5, step * 1.3)
        else:
            step = step * 0.985 if step > 0.011 else 0.3
    return Constants(*(float(f"{v:.4g}") for v in values)), best


@dataclass(frozen=True, slots=True)
class Score:
    """``middle``: median |error|. ``pairs``: versions of one job that differ; ``right``: ranked as measured.
    ``ties``: with the same counts, so that no order is predicted; these are not right.
    """

    launches: int
    middle: float
    pairs: int
    right: int
    ties: int


def score(some: list[Row], c: Constants | None = None) -> Score:
    """How good predictions are for these launches."""
    pairs = right = ties = 0
    for a, b in itertools.combinations(some, 2):
        if (a.card, a.job) == (b.card, b.job) and abs(math.log(a.measured / b.measured)) > APART:
            pairs += 1
            tie = math.isclose(a.predicted(c), b.predicted(c), rel_tol=1e-9)
            ties += tie
            right += not tie and (a.predicted(c) < b.predicted(c)) == (a.measured < b.measured)
    return Score(len(some), median(abs(r.error(c)) for r in some), pairs, right, ties)


def write_constants() -> None:
    """Fit on the one half; and the other way round, to see how far the result depends on the halves."""
    c, loss = fit(split(held=False))
    other, _ = fit(split(held=True))
    fitted = {
        "command": "python benchmarks/predict_fit.py fit", "seed": SEED, "launches": len(split(held=False)),
        "mean |log ratio|": round(loss, 4), "cards": list(CARDS),
        "the other way round": dataclasses.asdict(score(split(held=False), other)),
    }  # fmt: skip
    source = "fitted to launches measured on one H200 and one H100: benchmarks/predict_fit.py"
    constants = {
        name: {"value": value, "unit": RANGES[name][3], "source": source}
        for name, value in dataclasses.asdict(c).items()
    }
    model.FILE.write_text(json.dumps({"constants": constants, "fitted": fitted}, indent=1) + "\n")
    print(json.dumps(fitted, indent=1), score(split(held=True), c))


CUBES = (256, 512, 1024, 2048, 4096)
CACHED = 8 << 20  # bytes below which an operator's launch is most of its time


def library() -> dict[str, Any]:
    """What grader/referee/predict/operator_times.py reads, from operators and products that were timed on
    both cards."""
    from grader.referee.predict import operator_times

    shares: dict[int, list[tuple[float, float]]] = {size: [] for size in CUBES}
    cycles = []
    launch, norm = model.constants().launch, model.constants().norm
    for name in CARDS:
        card, times = gpu_card.card(name), json.loads((RESULTS / f"predict_{name}.json").read_text("utf-8"))
        for one in times["products"]:
            if one["dtype"] == "float32" and one["m"] == one["n"] == one["k"]:
                ideal = 2 * one["m"] ** 3 / card.gemm_flops_per_second["float32"]
                shares[one["m"]].append((ideal, ideal / (one["us"]["median"] * 1e-6 - launch)))
        for one in times["operators"]:
            if one["op"] == "x + bias" and one["bytes"] > CACHED:
                whole, memory = one["us"]["median"] * 1e-6 - launch, one["bytes"] / card.copy_bytes_per_second
                own = max(0.0, whole**norm - memory**norm) ** (1 / norm)
                cycles.append(own * card.sms * card.clock_hz / (one["bytes"] / 2 / operator_times.FLOAT))
    products = [[float(f"{_mean(k, 0):.4g}"), min(1.0, float(f"{_mean(k, 1):.4g}"))] for k in shares.values()]
    source = "timed on one H200 and one H100: benchmarks/predict.py measure"
    unit = "cycles of an SM for each element"
    return {
        "command": "python benchmarks/predict_fit.py library", "source": source, "products": products,
        "broadcast": {"value": float(f"{median(cycles):.4g}"), "unit": unit, "source": source},
    }  # fmt: skip


def _mean(pairs: list[tuple[float, float]], at: int) -> float:
    return sum(p[at] for p in pairs) / len(pairs)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fit"]:
            write_constants()
        case ["library"]:
            from grader.referee.predict import operator_times

            operator_times.FILE.write_text(json.dumps(library(), indent=1) + "\n")
        case ["page"]:
            from benchmarks import predict_page

            predict_page.write()
        case _:
            sys.exit(__doc__)
