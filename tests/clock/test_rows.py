"""Calls that follow each other: in a second race they are timed and compared as well."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from grader.clock import race, rows, witness
from grader.clock.plan import CALLS, Plan
from grader.player.acts import race as act
from grader.referee.fault import FaultError
from grader.verdict import Status
from tests.clock.track import CASE, Player, Track

CALL = 340e-6


@pytest.fixture
def track(monkeypatch: pytest.MonkeyPatch) -> Track:
    monkeypatch.setattr("grader.clock.interval.RESAMPLES", 400)
    return Track(monkeypatch)


def restless(track: Track, player: Player, seconds: float) -> None:
    """Each time that the cache is overwritten the host takes up to so long, in some blocks more."""
    ask, blocks = player.ask, itertools.count()

    def longer(do: str, _: float, **fields: Any) -> Any:
        turns = len(fields.get("order", ())) // fields.get("row", 1)
        player.host = lambda: track.clock.spend(next(blocks) * 7 % 10 / 10 * seconds * turns)
        return ask(do, _, **fields)

    player.ask = longer  # type: ignore[method-assign]


def test_what_a_restless_host_covers_is_seen_where_calls_follow_each_other(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of 340 us beside 300 us that pass between calls, or do not."""

    def run(claims: float) -> race.Heat:
        own, other = track.working(CALL), track.working(CALL)
        own.claims = lambda seconds: [s * claims for s in seconds]
        for player in (own, other):
            restless(track, player, 300e-6)
        return track.run(own, other)

    with pytest.raises(FaultError, match="in two races") as caught:
        run(0.5)
    assert caught.value.status is Status.TAMPERED
    assert run(1.0).against().outcome in ("same", "too noisy to tell")
    monkeypatch.setattr(
        rows, "in_rows", lambda match, start, count: ((start.mine.blocks, start.eager.blocks), 0)
    )
    assert not run(0.5).clear


def test_a_first_race_that_is_clear_has_no_rows(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "in_rows", lambda *_: pytest.fail("no need"))
    assert track.run(track.working(CALL), track.working(CALL)).clear


@pytest.mark.parametrize("right", [True, False])
def test_results_of_rows_are_compared(track: Track, right: bool) -> None:
    own, rowing, first = track.working(CALL), [False], iter(range(13))
    work, ask = own.stage.entry("work"), own.ask

    def lazy(x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(work(x)) * (right or not rowing[0])

    def seen(do: str, seconds: float, **fields: Any) -> Any:
        rowing[0] = fields.get("row", 1) > 1
        return ask(do, seconds, **fields)

    vars(own.stage.module)["work"] = lazy
    own.ask = seen  # type: ignore[method-assign]
    own.host = lambda: track.clock.spend(50e-3) if next(first, None) is not None else None  # a second race
    if right:
        heat = track.run(own, track.working(CALL))
        assert heat.clear and heat.compared == 4 * heat.rounds * heat.plan.calls
        return
    with pytest.raises(FaultError, match="another result") as caught:
        track.run(own, track.working(CALL))
    assert caught.value.status is Status.WRONG_OUTPUT


def test_in_a_row_the_cache_is_overwritten_once_and_each_call_has_a_set_of_its_own(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    own = track.working(10e-6, lambda x: done.append("call") or torch.sigmoid(x))
    start = race.line_up(track.match(own, track.working(10e-6)), CASE)
    monkeypatch.setattr(act, "fill", lambda track, number, seed: done.append(f"fill {number} {seed}"))
    monkeypatch.setattr(act, "overwrite", lambda _: done.append("flush"))
    monkeypatch.setattr(act, "synchronize", lambda: done.append("wait"))
    start.mine.ask("prepare", calls=4, fresh=["memory"])
    done.clear()
    start.mine.ask("block", order=[2, 0, 1, 3], seed=5, times=2, row=2)
    once = ["flush", "flush", "call", "call", "wait"]
    assert done == ["wait", "fill 2 5", "fill 0 6", *once, "fill 1 7", "fill 3 8", *once, "wait"]


def test_rows_are_whole_and_have_each_set_once(track: Track) -> None:
    start = race.line_up(track.match(track.working(CALL), track.working(CALL)), CASE)
    for sets, calls in ((8, CALLS), (3, 10)):
        found = rows.in_sets(replace(start, plan=Plan(sets, calls)), np.random.default_rng(1))
        assert len(found) == calls // sets * sets
        assert all(len(set(found[at : at + sets])) == sets for at in range(0, len(found), sets))


def test_rows_count_where_they_say_worse() -> None:
    def said(**how: Any) -> witness.Testimony:
        return witness.Testimony(
            14e-6, **({"hidden": -1.0, "apart": 0.0, "kept": ((True,),), "clear": True} | how)
        )

    single = said()
    accusing = said(hidden=1e-6, clear=False, kept=((False,),))
    unsure = said(clear=False, waits=True, kept=((False,),))
    assert witness.agreed(single, said(kept=((False,),))) is single
    assert witness.agreed(single, accusing).accuses and witness.agreed(single, accusing).kept == single.kept
    assert not witness.agreed(single, unsure).clear and witness.agreed(single, unsure).why
    assert witness.agreed(accusing, unsure) is accusing
