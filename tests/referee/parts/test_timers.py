"""Timers judged on the referee's clock: what is counted between two events."""

import statistics
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pytest

from grader.domain.lessons import find
from grader.referee.parts.timers import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.parts.part_session import PartSession

(COLD,) = (p for p in find("04").task.parts if isinstance(p, Probe) and p.warm < 1)


def judged(lately: int) -> Any:
    """What comes of 100 calls on 16 inputs, of which the last ``lately`` are made between two events."""

    def command(_name: str, serve: Any, **_fields: Any) -> dict[str, Any]:
        buffers = [serve(["input"])["value"] for _ in range(16 - lately)]
        for k in range(100):
            serve(["record", 2 * k])
            if k < lately:
                buffers.append(serve(["input"])["value"])
            serve(["launch", buffers[-1 if k < lately else k % len(buffers)]])
            serve(["record", 2 * k + 1])
        serve(["sync"])
        times = sorted(serve(["elapsed", 2 * k, 2 * k + 1])["value"] / 1e3 for k in range(100))
        return {"value": {"median": times[50], "p10": times[10], "p90": times[90], "n": 100}}

    session = SimpleNamespace(rng=np.random.default_rng(1), command=command, line_of=lambda _: 7)
    (finding,) = COLD.judge(cast("PartSession", session))
    return finding


def test_inputs_that_are_there_before_the_timing_are_right() -> None:
    assert judged(0).ok


@pytest.mark.parametrize(("lately", "says"), [(1, "called once between"), (6, "called 6 times between")])
def test_an_input_that_is_made_between_two_events_is_seen(lately: int, says: str) -> None:
    finding = judged(lately)
    assert not finding.ok and says in finding.message and finding.message.startswith("Line 7, benchmark: ")
    assert finding.evidence["timer"]["which"] == "inside"


def spread(n: int, uncounted: int, places: tuple[int, int, int], name: str = "spread") -> "Iterator[Any]":
    """What comes of ``n`` counted calls after ``uncounted``, for the tenths at ``places`` of nine."""

    def command(_name: str, serve: Any, **_fields: Any) -> dict[str, Any]:
        for _ in range(uncounted):
            serve(["launch", 0])
        for k in range(n):
            for step in (["record", 2 * k], ["launch", 0], ["record", 2 * k + 1]):
                serve(step)
        serve(["sync"])
        times = [serve(["elapsed", 2 * k, 2 * k + 1])["value"] / 1e3 for k in range(n)]
        cuts = statistics.quantiles(times, n=10, method=METHODS[n % 2])
        p10, median, p90 = (cuts[k] for k in places)
        return {"value": {"median": median, "p10": p10, "p90": p90, "n": n}}

    (probe,) = (p for p in find("04").task.parts if isinstance(p, Probe) and p.name == name)
    for seed in range(20):
        session = SimpleNamespace(rng=np.random.default_rng(seed), command=command, line_of=lambda _: 7)
        (finding,) = probe.judge(cast("PartSession", session))
        yield finding


METHODS: tuple[Literal["inclusive", "exclusive"], ...] = ("inclusive", "exclusive")


@pytest.mark.parametrize("n", [20, 21, 30, 33, 100, 101])
def test_the_percentiles_are_right_for_any_number_of_calls_and_the_next_tenths_are_not(n: int) -> None:
    assert all(finding.ok for finding in spread(n, 10, (0, 4, 8)))
    for places, key in (((1, 4, 8), "p10"), ((0, 4, 7), "p90"), ((0, 3, 8), "median"), ((0, 5, 8), "median")):
        assert {f.evidence.get("timer", {}).get("which") for f in spread(n, 10, places)} == {key}


@pytest.mark.parametrize(("uncounted", "left"), [(1, 1), (5, 5), (9, 9), (0, 0)])
def test_a_warm_up_of_less_than_ten_calls_is_too_short(uncounted: int, left: int) -> None:
    for finding in spread(300, uncounted, (0, 4, 8), "first calls"):
        assert not finding.ok and f"which leaves {left} for the warm-up" in finding.message
    assert all(finding.ok for finding in spread(300, 10, (0, 4, 8), "first calls"))


def test_events_in_another_stream_than_the_kernel_are_said_to_be_there() -> None:
    def command(_name: str, serve: Any, **_fields: Any) -> dict[str, Any]:
        for k in range(110):
            for step in (["record", 2 * k, True], ["launch", 0], ["record", 2 * k + 1, True]):
                serve(step)
        serve(["sync"])
        times = sorted(serve(["elapsed", 2 * k, 2 * k + 1])["value"] / 1e3 for k in range(10, 110))
        return {"value": {"median": times[50], "p10": times[10], "p90": times[90], "n": 100}}

    probe = next(p for p in find("04").task.parts if isinstance(p, Probe) and p.name == "spread")
    session = SimpleNamespace(rng=np.random.default_rng(1), command=command, line_of=lambda _: 7)
    (finding,) = probe.judge(cast("PartSession", session))
    assert "recorded in another stream than the current one" in finding.message


def test_an_event_that_is_recorded_again_measures_one_call(pairs: int = 32) -> None:
    def command(_name: str, serve: Any, **_fields: Any) -> dict[str, Any]:
        for k in range(110):
            number = k % pairs
            for step in (["record", 2 * number], ["launch", 0], ["record", 2 * number + 1]):
                serve(step)
        serve(["sync"])
        numbers = [k % pairs for k in range(10, 110)]
        times = sorted(serve(["elapsed", 2 * k, 2 * k + 1])["value"] / 1e3 for k in numbers)
        return {"value": {"median": times[50], "p10": times[10], "p90": times[90], "n": 100}}

    probe = next(p for p in find("04").task.parts if isinstance(p, Probe) and p.name == "spread")
    session = SimpleNamespace(rng=np.random.default_rng(1), command=command, line_of=lambda _: 7)
    (finding,) = probe.judge(cast("PartSession", session))
    assert "n is 100, and 32 different calls lie between two events" in finding.message
