"""Intervals, outcomes, plans, floors, and the report of a measurement."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from benchmarks import race_coverage
from grader.domain import gpu_card
from grader.domain.lessons import find
from grader.domain.speed import Machine, NoSpeed, Speed
from grader.domain.verdict import Verdict
from grader.referee.timing import cross_check, gpu_state
from grader.referee.timing.contender import EAGER
from grader.referee.timing.cross_check import Blocks
from grader.referee.timing.interval import Interval, interval, spread
from grader.referee.timing.plan import SOON, Plan, make_plan
from grader.referee.timing.race_result import RaceResult
from grader.reports import clock_table
from tests.speeds import measured, predicted

Pair = tuple[list[float], list[float]]


def blocks(rng: np.random.Generator, own: float, theirs: float, count: int, noise: float) -> list[Pair]:
    def one(seconds: float) -> list[float]:
        drift = 1 + noise * rng.standard_normal()
        return [seconds * drift * (1 + 0.001 * rng.standard_normal()) for _ in range(8)]

    return [(one(own), one(theirs)) for _ in range(count)]


@pytest.mark.slow
def test_the_interval_of_the_same_thing_holds_one_about_as_often_as_it_says() -> None:
    """2000 races of a thing with itself, on made-up noise: 95 % should hold 1; fixed seed, so no flake."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(2000):
        found = interval(blocks(rng, 1e-4, 1e-4, 12, 0.005))
        held += found.low <= 1 <= found.high
    assert 0.935 <= held / 2000 <= 0.975


def test_a_difference_is_found_and_the_same_times_give_the_same_interval() -> None:
    pairs = blocks(np.random.default_rng(3), 1.02e-4, 1e-4, 12, 0.003)
    found = interval(pairs)
    assert found == interval(pairs) and found.outcome == "slower"
    assert found.ratio == pytest.approx(1 / 1.02, rel=0.005)


def test_too_few_pairs_say_nothing() -> None:
    assert interval([([1e-4], [2e-4])]).outcome == "too noisy to tell"


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [(1.01, 1.02, "faster"), (0.9, 0.99, "slower"), (0.995, 1.005, "same"), (0.9, 1.1, "too noisy to tell"),
     (1.0, 1.0, "same")],
)  # fmt: skip
def test_outcomes(low: float, high: float, outcome: str) -> None:
    assert Interval((low + high) / 2, low, high, 12).outcome == outcome


def test_a_target_is_met_by_the_whole_interval() -> None:
    assert Interval(2.1, 2.0, 2.2, 12).beyond(2.0)
    assert not Interval(2.1, 1.99, 2.2, 12).beyond(2.0)


@pytest.mark.parametrize("size", [4, 1 << 20, 32 << 20, 600 << 20])
def test_plans_rotate_over_more_than_the_cache_and_keep_what_fits(size: int) -> None:
    how = make_plan(size, size, 64 << 20)
    assert how.sets >= 2 and 4 <= how.calls <= 40 and how.sets <= how.calls
    assert how.calls * size <= max(256 << 20, 4 * size)
    assert how.flush_bytes > 64 << 20


def test_long_calls_take_fewer_rounds_and_an_interval_that_knows_of_processes() -> None:
    how = make_plan(32 << 20, 32 << 20, 50 << 20)
    assert (how.least_for(2.7e-3), how.least_for(20e-6)) == (4, 6)
    assert Plan(2, 4, least=2).least_for(2.7e-3) == 2
    blocks = Blocks([[2.7e-3] * 4] * 8, [1.2e-2] * 8)
    pairs = [([2.7e-3], [2.7e-3 * (1 + k * 1e-6)]) for k in range(8)]
    found = RaceResult(blocks, {EAGER: blocks}, how, {EAGER: pairs}, groups=[0] * 8)
    wide, narrow = found.against(), found.against(sampling=True)
    assert wide.half_width == pytest.approx(1.96 * 5e-4, rel=0.1) and narrow.half_width < 1e-5


WIDE, NARROW, AFTER = 0.004, 0.0019, 0.0046


@pytest.mark.parametrize(
    ("rounds", "seconds", "half_width", "over"),
    [
        (9, 0.5, NARROW, True), (9, 0.5, WIDE, False),  # at first it has to be narrow
        (9, 1.6, WIDE, True), (9, 1.6, AFTER, False),  # later less is enough
        (40, 0.5, 1.0, True), (9, 6.0, 1.0, True),  # and some day it ends
    ],
)  # fmt: skip
def test_a_race_is_over(rounds: int, seconds: float, half_width: float, over: bool) -> None:
    assert Plan(2, 4).over(rounds, seconds, 6.0, lambda: half_width) is over


def test_a_race_that_is_over_in_any_case_asks_for_no_interval() -> None:
    plan = Plan(2, 4)
    assert plan.over(plan.most, 0.1, 6.0, lambda: pytest.fail("an interval takes a while"))


@pytest.mark.slow(cases=1)
@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize("name", ["lesson 03", "lesson 03, heavy tails", "lesson 03, a GPU that warms up"])
def test_who_stops_when_the_interval_is_narrow_has_one_that_holds(name: str) -> None:
    """200 races of a call with itself, on made-up noise and with fixed seeds; benchmarks/race_coverage.py has
    more kinds of noise.
    """
    noise = race_coverage.NOISES[name]
    plan = Plan(2, noise.calls)
    found = race_coverage.summary(noise, plan, 200)
    assert 0.93 <= found["holds 1"] <= 0.99
    assert 0.93 <= found["holds 1, blocks alone"] <= 0.99
    assert found["median half width"] < 0.0055
    assert SOON * plan.limit_s < found["median seconds"] < plan.limit_s / 2


def test_below_the_floor_of_the_card_is_tampering() -> None:
    card, own = gpu_card.card("h200"), Blocks([[1e-6] * 4], [1e-3])
    assert "needs" in cross_check.too_fast(own, card, 32 << 20, 0)
    assert "needs" in cross_check.too_fast(own, card, 0, 2 * 1024 * 8192 * 8192)
    assert cross_check.too_fast(own, card, 1 << 20, 0) == ""
    assert cross_check.too_fast(own, None, 1 << 40, 0) == ""


def test_a_spread_is_of_single_calls() -> None:
    found = spread([float(n) for n in range(1, 102)])
    assert (found.median, found.p10, found.p90, found.n) == (51, 11, 91, 101)


def test_states_of_the_machine_become_ranges() -> None:
    one = gpu_state.GpuState("a GPU", "1", 1980, 3201, 34, [])
    two = replace(one, sm_mhz=1200, celsius=60, throttled=["power cap"])
    found = gpu_state.ranges([one, None, two])
    assert found.sm_mhz == [1200, 1980] and found.celsius == [34, 60] and found.throttled == ["power cap"]
    assert gpu_state.ranges([None, None]) == Machine()


def shown(speed: Speed | None) -> str:
    verdict = Verdict("07", "a.py", "cuda", "a GPU", (), 1.0, speed=speed)
    out = io.StringIO()
    clock_table.show(Console(file=out, width=140), verdict, find("07").task)
    return out.getvalue()


def test_a_measurement_is_shown_with_its_interval() -> None:
    times = {"median": 2.706e-3, "p10": 2.705e-3, "p90": 2.749e-3, "n": 72}
    found = {"seconds": times, "ratio": 1.0096, "interval": [1.0088, 1.0104], "outcome": "faster"}
    state = {"name": "a GPU", "driver": "5", "throttled": ["power cap"], "sm_mhz": [1, 2], "celsius": [3, 4]}
    text = shown(measured(seconds=times, baselines={"eager": found, "default": found}, machine=state))
    assert "1.0088 to 1.0104  faster" in text and "torch.compile, default" in text and "2.706 ms" in text
    assert "72 timed results compared" in text and "throttled: power cap" in text


def test_without_a_measurement_the_reason_is_said() -> None:
    assert "once every check passes" in shown(None)
    text = shown(predicted(kernel_seconds=1e-5))
    assert "needs a GPU's clock" in text and "10.0 us" in text
    assert "Not timed: it fell" in shown(NoSpeed("it fell"))
