"""Short calls: several pairs of processes, and an interval that knows that processes are not alike."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from grader.referee.timing import back_to_back, race, setup, two_clocks
from grader.referee.timing.contender import SOLUTION
from grader.referee.timing.interval import interval
from grader.referee.timing.plan import Plan
from tests.referee.timing.track import CASE, Session, Track

Pair = tuple[list[float], list[float]]
PROCESS = 0.015


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.referee.timing.interval.RESAMPLES", 400)


def races(bias: float, pairs: int, blocks: int, slower: float = 1.0) -> list[tuple[list[Pair], list[int]]]:
    """200 races on made-up times: each pair of processes has a bias of its own, each block its noise."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(200):
        both: list[Pair] = []
        groups: list[int] = []
        for group in range(pairs):
            theirs = math.exp(bias * rng.standard_normal())
            for _ in range(blocks):
                own, other = 1 + 0.004 * rng.standard_normal(2)
                both.append(([20e-6 * slower * own] * 3, [20e-6 * theirs * other] * 3))
                groups.append(group)
        found.append((both, groups))
    return found


def held(found: list[tuple[list[Pair], list[int]]], process: float) -> float:
    intervals = [interval(pairs, groups, process) for pairs, groups in found]
    return sum(i.low <= 1 <= i.high for i in intervals) / len(intervals)


def test_one_pair_of_processes_is_believed_only_as_far_as_processes_agree() -> None:
    """Ten out of ten wrong is what blocks alone say of a biased pair; the known difference mends it."""
    found = races(PROCESS, 1, 24)
    assert held(found, 0.0) < 0.3
    assert held(found, PROCESS) >= 0.94


def test_several_pairs_hold_what_they_say_and_are_narrower() -> None:
    found = races(PROCESS, 4, 6)
    assert 0.94 <= held(found, PROCESS) <= 0.99
    one, four = (interval(*races(PROCESS, n, 24 // n)[0], PROCESS).half_width for n in (1, 4))
    assert four < 0.7 * one


def test_processes_further_apart_than_is_known_are_seen() -> None:
    found = races(2 * PROCESS, 4, 6)
    assert held(found, 0.0) > held([(p, []) for p, _ in found], 0.0) + 0.3
    assert held(found, PROCESS) > 0.85


def test_pairs_that_share_a_bias_of_nothing_still_find_two_percent() -> None:
    found = [interval(p, g, 0.004) for p, g in races(0.004, 3, 8, slower=1.02)]
    assert sum(i.outcome == "slower" for i in found) / len(found) > 0.9


def test_a_race_of_three_pairs_averages_what_their_processes_differ_by(track: Track) -> None:
    def pair(own: float, other: float) -> Session:
        return track.session(track.working(own), track.working(other))

    first, *others = pair(9e-6, 9e-6), pair(20e-6, 20.4e-6), pair(20.4e-6, 20e-6), pair(20.2e-6, 20.2e-6)
    ready = iter(others)
    first.twin = lambda _: next(ready)
    one = race.set_up_race([first], CASE)
    assert len(one.groups) == 3 and len({pair.flushes for (pair,) in one.groups}) == 1
    one.run()
    result = one.result()
    assert abs(result.against().ratio - 1) < 0.004 and result.against().outcome != "slower"
    assert set(result.groups) == {0, 1, 2} and result.rounds >= 6
    assert result.unlike_s() == pytest.approx(0.4e-6, rel=0.5)
    assert (
        result.compared
        == 2 * result.rounds * result.plan.calls
        + two_clocks.BLOCKS_OF_SHORT_CALLS * back_to_back.COMPARED_CALLS
    )


class Log:
    """Requests of a race of three pairs, in order: (player, step), and what was done at once with others."""

    def __init__(self, track: Track, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.seen: list[tuple[int, str]] = []
        self.together: list[tuple[int, str]] = []
        self._depth = 0
        players = [track.working(seconds) for _ in range(8)]
        for number, player in enumerate(players):
            player.ask = self._noted(number, player.ask)  # type: ignore[method-assign]
        first, *others = (track.session(*players[n : n + 2]) for n in range(0, 8, 2))
        ready = iter(others)
        first.twin = lambda _: next(ready)
        self.race = race.set_up_race([first], CASE)
        monkeypatch.setattr(setup, "at_once", self._at_once)
        self.seen.clear()

    def _noted(self, number: int, ask: Any) -> Any:
        def asked(do: str, seconds: float, **fields: Any) -> Any:
            one = number, str(fields.get("step", do))
            self.seen.append(one)
            if self._depth:
                self.together.append(one)
            return ask(do, seconds, **fields)

        return asked

    def _at_once(self, *jobs: Any) -> list[Any]:
        self._depth += 1
        found = [job() for job in jobs]
        self._depth -= 1
        return found


def test_nothing_else_is_done_while_a_block_is_timed(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes are prepared while results are compared, and a block's own process right before it."""
    log = Log(track, monkeypatch, 1e-5)
    log.race.run()
    assert {step for _, step in log.together} == {"prepare", "results"}
    for (before, step), (player, now) in itertools.pairwise(log.seen):
        if now == "block":
            assert (before, step) == (player, "warm")
    prepared, warm = (sum(step == name for _, step in log.seen) for name in ("prepare", "warm"))
    assert prepared == warm + 6  # at the end of the rows each of the six gives memory back


def test_each_group_goes_forth_and_back_in_every_round(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(track, monkeypatch, 1e-5)
    log.race.run()
    rounds = log.race.result().rounds
    blocks = [player // 2 for player, step in log.seen if step == "block"][: 4 * rounds]
    assert blocks[:12] == [1, 1, 2, 2, 3, 3] * 2
    players = [player for player, step in log.seen if step == "block"][: 4 * rounds]
    for at in range(0, len(players), 12):
        for group in range(0, 6, 2):
            forth, back = players[at + group : at + group + 2], players[at + group + 6 : at + group + 8]
            assert forth == back[::-1]


def test_long_calls_and_a_match_without_twins_have_one_pair(track: Track) -> None:
    slow = track.session(track.working(3e-3), track.working(3e-3))
    slow.twin = lambda _: pytest.fail("a process too many")
    quick = track.session(track.working(1e-5), track.working(1e-5))
    ((long,),), ((short,),) = (race.set_up_race([session], CASE).groups for session in (slow, quick))
    assert long.session is slow and short.session is quick
    assert Plan(2, 4).fresh_for(long.eager_s) == () != Plan(2, 4).fresh_for(short.eager_s)


def test_both_processes_of_a_pair_have_done_the_same_before(track: Track) -> None:
    """The first pair's have not: one was asked for answers, the other judged. It does not race."""
    players = [track.working(1e-5) for _ in range(8)]
    asked: dict[int, list[str]] = {n: [] for n in range(8)}
    for number, player in enumerate(players):
        ask = player.ask

        def noted(do: str, seconds: float, *, at: int = number, by=ask, **fields: Any) -> Any:
            asked[at].append(fields.get("step", do))
            return by(do, seconds, **fields)

        player.ask = noted  # type: ignore[method-assign]
    first, *others = (track.session(*players[n : n + 2]) for n in range(0, 8, 2))
    solution = track.working(1e-5)
    first.solution = lambda: solution  # type: ignore[assignment, return-value]
    ready = iter(others)
    first.twin = lambda _: next(ready)
    one = race.set_up_race([first], CASE, (SOLUTION,))
    assert asked[2] == asked[3] == asked[4] == asked[5] == ["play", "ready"]
    before = {n: len(asked[n]) for n in asked}
    one.run()
    result = one.result()
    assert len(asked[0]) == before[0] and len(asked[1]) == before[1]
    assert all(len(asked[n]) > before[n] + 8 for n in (2, 3, 4, 5, 6, 7))
    # The baseline's process is one for all pairs.
    assert len(result.block_pairs[SOLUTION]) == len(result.block_pairs["eager"]) == 2 * result.rounds
    assert {other.player for (pair,) in one.groups for other in pair.others} == {solution}


def test_nothing_but_a_short_call_itself_waits_in_the_queue(track: Track, monkeypatch) -> None:
    from grader.player.commands import race_blocks as act

    seen: list[str] = []
    record, synchronize = act.record, act.synchronize
    monkeypatch.setattr(act, "record", lambda event: seen.append("record") or record(event))
    monkeypatch.setattr(act, "synchronize", lambda: seen.append("wait") or synchronize())
    for seconds, waits in ((1e-5, 4), (3e-3, 0)):
        player = track.working(seconds)
        start = setup.set_up(track.session(player, track.working(seconds)), CASE)
        fresh = start.plan.fresh_for(start.eager_s)
        start.submission.ask("prepare", calls=4, fresh=fresh)
        seen.clear()
        start.submission.ask("block", order=[0, 1, 0, 1], seed=1, flushes=1)
        each = ["record", "record", "wait"] if waits else ["record", "record"]
        assert seen == ["wait", *each * 4, "wait"]


def test_memory_is_moved_about_between_blocks_of_short_calls(track: Track, monkeypatch) -> None:
    moved: list[int] = []
    monkeypatch.setattr("grader.player.commands.race_blocks.elsewhere", lambda: moved.append(1) or [])
    track.run(track.working(1e-5), track.working(1e-5))
    assert len(moved) >= 24
    moved.clear()
    track.run(track.working(1e-3), track.working(1e-3))
    assert not moved
