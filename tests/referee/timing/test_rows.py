"""Calls that follow each other: in every race they are timed too, and some of their results compared."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from grader.domain.verdict import Status
from grader.player.commands import race_blocks as act
from grader.referee.fault import FaultError
from grader.referee.timing import back_to_back, cross_check, setup, two_clocks
from grader.referee.timing.cross_check import BlockPair, ClockEvidence
from tests.referee.timing.track import CASE, Player, Track

if TYPE_CHECKING:
    from grader.referee.timing.race_result import RaceResult

LONG, SHORT = 340e-6, 14e-6
Seen = Callable[[dict[str, Any]], None]


pytestmark = pytest.mark.usefixtures("few_resamples")


def before(player: Player, seen: Seen) -> None:
    """``seen`` gets the fields of each request before it is done."""
    ask = player.ask

    def first(do: str, seconds: float, **fields: Any) -> Any:
        if do == "command":
            seen(fields)
        return ask(do, seconds, **fields)

    player.ask = first  # type: ignore[method-assign]


def restless(track: Track, player: Player, seconds: float) -> None:
    """Between single calls the host takes up to so long, in some blocks more."""
    blocks = itertools.count()

    def seen(fields: dict[str, Any]) -> None:
        turns = 1 if fields.get("busy_work") else len(fields.get("order", ()))
        player.host = lambda: track.clock.spend(next(blocks) * 7 % 10 / 10 * seconds * turns)

    before(player, seen)


def lying(player: Player, single: float, row: float) -> None:
    """The player says that single calls, and those in a row, took so much of what they did."""

    def seen(fields: dict[str, Any]) -> None:
        factor = row if fields.get("busy_work") else single
        player.claims = lambda seconds: [s * factor for s in seconds]

    before(player, seen)


def single_calls(singles: Sequence[BlockPair]) -> tuple[ClockEvidence, two_clocks.BackToBack]:
    evidence = cross_check.clock_evidence(singles)
    return evidence, two_clocks.BackToBack(evidence, [], 0)


def without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the referee would see if there were only single calls."""
    monkeypatch.setattr(
        two_clocks.CrossExamination,
        "run",
        lambda self, singles, earlier: single_calls(singles),
    )


@pytest.mark.slow
def test_what_is_hidden_in_a_short_call_is_seen_where_calls_follow_each_other(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5.6 of 14 us: by single calls they could be what one loop takes longer than another."""

    def run() -> RaceResult:
        own = track.working(SHORT)
        lying(own, 0.6, 0.6)
        return track.run(own, track.working(SHORT))

    with pytest.raises(FaultError, match="in two races: work is done outside") as caught:
        run()
    assert caught.value.status is Status.TAMPERED
    without_rows(monkeypatch)
    assert run().against().outcome == "faster"


def test_what_a_restless_host_covers_is_seen_where_calls_follow_each_other(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of 340 us beside 300 us that pass between calls, or do not."""

    def run(claims: float) -> RaceResult:
        own, other = track.working(LONG), track.working(LONG)
        lying(own, claims, claims)
        for player in (own, other):
            restless(track, player, 300e-6)
        return track.run(own, other)

    with pytest.raises(FaultError, match="in two races") as caught:
        run(0.5)
    assert caught.value.status is Status.TAMPERED
    assert run(1.0).against().outcome in ("same", "too noisy to tell")
    without_rows(monkeypatch)
    assert not run(0.5).clear


@pytest.mark.parametrize("seconds", [SHORT, LONG])
def test_who_lies_about_single_calls_only_contradicts_himself(track: Track, seconds: float) -> None:
    """And leaves out as much of what comes between them, so that the referee's clock agrees."""
    own = track.working(seconds)
    lying(own, 0.5, 1.0)

    def seen(fields: dict[str, Any]) -> None:
        less = 0 if fields.get("busy_work") else len(fields.get("order", ())) * seconds / 2
        own.host = lambda: track.clock.spend(-less)

    before(own, seen)
    with pytest.raises(FaultError, match="by itself") as caught:
        track.run(own, track.working(seconds))
    assert caught.value.status is Status.TAMPERED


def test_the_work_before_a_row_has_to_be_done(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = track.working(SHORT), track.working(SHORT)
    lead, mine = act.keep_busy, [False]  # type: ignore[attr-defined]
    before(own, lambda _: mine.__setitem__(0, True))
    before(other, lambda _: mine.__setitem__(0, False))
    monkeypatch.setattr(
        act, "keep_busy", lambda size, steps, *more: lead(size, steps - (mine[0] and steps > 1), *more)
    )
    with pytest.raises(FaultError, match="work that comes before a row") as caught:
        track.run(own, other)
    assert caught.value.status is Status.TAMPERED


@pytest.mark.parametrize(
    ("said", "right", "good"),
    [
        ([1.5], [1.5], True), ([1.5 + 1e-12], [1.5], True), ([1.5 + 1e-7], [1.5], False),
        ([], [1.5], False), (None, [1.5], False), (["1.5"], [1.5], False), ([True], [1.0], False),
        ([float("nan")], [1.5], False), ([1.5, 1.5], [1.5], False), ([10**400], [1.5], False),
    ],
)  # fmt: skip
def test_what_a_process_tells_of_that_work(said: Any, right: Any, good: bool) -> None:
    assert back_to_back.same_work(said, right) is good


@pytest.mark.parametrize("seconds", [SHORT, LONG])
def test_processes_that_differ_are_no_cheats(track: Track, seconds: float) -> None:
    """Rows of 32 calls: as far apart as an H200 showed it (row_spread.json), and a little more."""
    own, other = track.working(seconds), track.working(seconds)
    own.host = lambda: track.clock.spend(40e-6, 0.5)
    result = track.run(own, other)
    assert result.clear and not result.why and result.against().outcome in ("same", "too noisy to tell")


@pytest.mark.parametrize("right", [True, False])
def test_results_of_rows_are_compared(track: Track, right: bool) -> None:
    own, rowing = track.working(LONG), [False]
    work = own.stage.entry("work")

    def lazy(x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(work(x)) * (right or not rowing[0])

    vars(own.stage.module)["work"] = lazy
    before(own, lambda fields: rowing.__setitem__(0, bool(fields.get("busy_work"))))
    if right:
        result = track.run(own, track.working(LONG))
        assert result.clear and len(result.back_to_back) == 1
        assert (
            result.compared
            == 2 * result.rounds * result.plan.calls
            + two_clocks.BLOCKS_OF_LONG_CALLS * back_to_back.COMPARED_CALLS
        )
        return
    with pytest.raises(FaultError, match="another result") as caught:
        track.run(own, track.working(LONG))
    assert caught.value.status is Status.WRONG_OUTPUT


def test_in_a_row_calls_follow_each_other_and_each_has_inputs_of_its_own(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    own = track.working(10e-6, lambda x: done.append("call") or torch.sigmoid(x))
    start = setup.set_up(track.session(own, track.working(10e-6)), CASE)
    monkeypatch.setattr(act, "fill", lambda track, number, seed: done.append(f"fill {number} {seed}"))
    monkeypatch.setattr(act, "overwrite", lambda _: done.append("flush"))
    monkeypatch.setattr(act, "synchronize", lambda: done.append("wait"))
    monkeypatch.setattr(
        act, "keep_busy", lambda size, steps, seed, _: done.append(f"lead {steps} {seed}") or torch.ones(())
    )
    start.submission.ask("prepare", calls=3, fresh=["memory"], busy_work=256)
    assert "lead 1 0" in done  # whatever is loaded for it is loaded by then
    done.clear()
    start.submission.ask("block", order=[2, 0, 2], seed=5, busy_work=[256, 7])
    each = ["fill 2 5", "call", "fill 0 6", "call", "fill 2 7", "call"]
    assert done == ["wait", "lead 7 5", *each, "wait"]


def test_a_row_is_as_long_as_memory_and_time_allow(track: Track) -> None:
    start = setup.set_up(track.session(track.working(SHORT), track.working(SHORT)), CASE)
    large: list[tuple[tuple[int, ...], str]] = [((8192, 2048), "float32")]
    for of, wanted in (
        (start, back_to_back.MOST_CALLS), (replace(start, outputs=large), 4),
        (replace(start, outputs=large, memory_bytes=141 << 30), 16), (replace(start, eager_s=2e-3), 6),
        (replace(start, eager_s=1.0), back_to_back.FEWEST_CALLS),
    ):  # fmt: skip
        assert back_to_back.block_length(of) == wanted


def test_rows_count_where_they_say_worse() -> None:
    def said(**how: Any) -> ClockEvidence:
        return ClockEvidence(
            SHORT, **({"hidden_s": -1.0, "apart_s": 0.0, "confirmed": ((True,),), "clear": True} | how)
        )

    single = said()
    accusing = said(hidden_s=1e-6, clear=False, confirmed=((False,),))
    unsure = said(clear=False, waits=True, why="waits", confirmed=((False,),))

    def both(one: ClockEvidence, other: ClockEvidence) -> ClockEvidence:
        return cross_check.combined(one, other, 32)

    assert both(single, said(confirmed=((False,),))) == single
    assert both(single, accusing).suspicion and both(single, accusing).confirmed == single.confirmed
    assert not both(single, unsure).clear and both(single, unsure).why == "waits"
    assert both(accusing, unsure) is accusing
    assert both(said(clear=False), single).clear
    assert not both(said(clear=False, enough=False), single).clear
    assert not both(said(clear=False, waits=True), single).clear
    assert not both(single, said(apart_s=9e-6)).clear and both(single, said(apart_s=5e-6)).clear
    assert not both(single, said(error_s=4e-6)).clear and both(single, said(error_s=3e-6)).clear
    assert not cross_check.combined(single, single, 32, said(apart_s=9e-6)).clear  # by rows of earlier races


@pytest.mark.parametrize(
    ("row", "trusted", "late", "found"),
    [
        (1.3, 1, False, "clear"), (2, 1, False, "accused"), (2, 2, False, "accused"),
        (2, 2, True, "clear"), (2, 1, True, "slow host"), (4, 2, True, "slow host"),
    ],
)  # fmt: skip
def test_only_a_host_that_is_behind_makes_calls_in_a_row_longer(
    row: float, trusted: float, late: bool, found: str
) -> None:
    """``row``: so many times what single calls claim; ``trusted``: the same of the reference."""

    def said(seconds: float, trusted: float) -> ClockEvidence:
        return ClockEvidence(seconds, -1.0, 0.0, ((True,),), clear=True, reference_s=trusted)

    both = cross_check.combined(said(SHORT, LONG), said(row * SHORT, trusted * LONG), 32, host_behind=late)
    assert bool(both.suspicion) is (found == "accused")
    assert both.clear is (found == "clear")
    assert ("host asks" in both.why) is (found == "slow host")


def test_many_launches_are_no_cheat_and_have_no_speed(track: Track) -> None:
    """As they took an H200 418 us by themselves, and its host 1175 us to ask for in a row."""
    rowing = [False]

    def work(x: torch.Tensor) -> torch.Tensor:
        track.clock.spend(757e-6 if rowing[0] else 0)
        return torch.sigmoid(x)

    own = track.working(418e-6, work)
    before(own, lambda fields: rowing.__setitem__(0, bool(fields.get("busy_work"))))
    own.asked = 1.0
    result = track.run(own, track.working(SHORT))
    assert not result.clear and "fewer kernels" in result.why
    assert re.search(r"took 41\d\.\d us by itself and 117\d\.\d us among", result.why)


def test_rows_that_are_quiet_and_far_apart_have_a_reason(track: Track) -> None:
    """About 9 us more between calls of a row in each race, as with streams of its own: that is no noise."""
    own, other = track.working(SHORT), track.working(SHORT)

    def host(player: Player, *more: int) -> None:
        each = itertools.cycle(more)

        def seen(fields: dict[str, Any]) -> None:
            calls = len(fields.get("order", ())) if fields.get("busy_work") else 0
            player.host = lambda: track.clock.spend(calls * next(each) * 1e-6)

        before(player, seen)

    host(own, 6, 13, 14, 15, 16)
    host(other, 0, 3, 5, 6, 7)
    result = track.run(own, other)
    assert not result.clear and "64 calls that follow each other" in result.why, result.why


@pytest.mark.parametrize(("seconds", "room", "length"), [(300e-6, 20, 14), (300e-6, 5, 64), (SHORT, 20, 64)])
def test_a_row_of_long_calls_is_as_short_as_the_devices_queue(
    track: Track, seconds: float, room: int, length: int
) -> None:
    """The host is ahead for so many calls; it would be behind in a row of 64, which its process says."""
    lengths: list[int] = []

    def work(x: torch.Tensor) -> torch.Tensor:
        track.clock.spend(300e-6 if lengths and lengths[-1] > room and rowing[0] else 0)
        return torch.sigmoid(x)

    own, rowing = track.working(seconds, work), [False]

    def seen(fields: dict[str, Any]) -> None:
        rowing[0] = bool(fields.get("busy_work")) and fields["step"] == "block"
        if rowing[0]:
            lengths.append(len(fields["order"]))
            own.asked = 1.0 if lengths[-1] > room else 0.5

    before(own, seen)
    result = track.run(own, track.working(SHORT))
    assert result.clear is (length == 14)
    assert set(lengths) == {64, length} if room == 20 else {64, 14}
    assert len(result.back_to_back[0][0].calls[0]) == length


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [SHORT, LONG])
@pytest.mark.parametrize("asked", [0.5, 1.0])
def test_rows_are_waited_for_after_each_call_where_calls_wait(
    track: Track, seconds: float, asked: float
) -> None:
    """Only those of long calls, and only of a process that says that its calls have waited."""
    own, waited = track.working(seconds), []
    own.asked = asked

    def seen(fields: dict[str, Any]) -> None:
        if fields["step"] == "block":
            own.host = lambda: track.clock.spend(len(fields["order"]) * seconds)
            waited.append((bool(fields.get("busy_work")), fields.get("drain")))

    before(own, seen)
    with contextlib.suppress(FaultError):
        track.run(own, track.working(seconds))
    assert (False, True) in waited
    assert ((True, True) in waited) is (asked == 1.0 and seconds == LONG)


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("seconds", [SHORT, LONG])
@pytest.mark.parametrize("seed", range(2))
def test_where_a_clock_can_see_nothing_nothing_is_claimed(
    track: Track, monkeypatch: pytest.MonkeyPatch, seconds: float, seed: int
) -> None:
    """Half is hidden, flushes are left out, and the host is as restless as one that compiles beside."""
    monkeypatch.setattr(back_to_back, "MOST_CALLS", 16)
    own, other = track.working(seconds), track.working(seconds)
    lying(own, 0.5, 0.5)
    chance = random.Random(seed)

    def noise(player: Player, less: float) -> None:
        def seen(fields: dict[str, Any]) -> None:
            calls = len(fields.get("order", ()))
            hidden = 0.0 if fields.get("busy_work") else less
            more = chance.expovariate(1 / 300e-6)
            player.host = lambda: track.clock.spend(calls * (more - hidden))

        before(player, seen)

    noise(own, seconds / 2)
    noise(other, 0.0)
    try:
        result = track.run(own, other)
    except FaultError as fault:
        assert fault.status is Status.TAMPERED
    else:
        assert not result.clear and result.against().outcome == "too noisy to tell"


@pytest.mark.parametrize(("late", "clear"), [(12e-6, False), (1e-6, True)])
def test_nobody_has_three_chances_of_looking_quiet(track: Track, late: float, clear: bool) -> None:
    """Rows take so much longer for each call in two races, not in the third. Waiting explains it."""
    own, other, rowed = track.working(SHORT), track.working(SHORT), [0]
    own.asked = 1.0

    def mine(fields: dict[str, Any]) -> None:
        row = bool(fields.get("busy_work")) and fields["step"] == "block"
        rowed[0] += row
        more = late if row and rowed[0] <= 2 * two_clocks.BLOCKS_OF_SHORT_CALLS else 0.0
        own.host = lambda: track.clock.spend(len(fields.get("order", ())) * more)

    def theirs(fields: dict[str, Any]) -> None:
        more = 20e-6 if fields.get("waits") else 0.0
        other.host = lambda: track.clock.spend(len(fields.get("order", ())) * more)

    before(own, mine)
    before(other, theirs)
    assert track.run(own, other).clear is clear


@pytest.mark.slow
def test_rows_are_added_until_they_are_precise(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host takes up to 120 us longer for each call, in each block another time, whoever makes it."""
    monkeypatch.setattr(back_to_back, "MOST_CALLS", 16)
    own, other = track.working(SHORT), track.working(SHORT)
    for player in (own, other):
        player.host = lambda: track.clock.spend(16 * 120e-6 * track.clock.rng.random())
    result = track.run(own, other)
    assert len(result.back_to_back[0][0].wall) > two_clocks.BLOCKS_OF_SHORT_CALLS
    quiet = track.run(track.working(SHORT), track.working(SHORT))
    assert len(quiet.back_to_back[0][0].wall) == two_clocks.BLOCKS_OF_SHORT_CALLS


@pytest.mark.slow
def test_waiting_is_an_excuse_only_for_who_says_that_he_waited(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10 us more for each short call, which waiting would explain; the device was behind, or it was not."""
    monkeypatch.setattr(act, "waiting", lambda target, *_: lambda x: track.clock.spend(0, 0) or target(x))

    def run(asked: float) -> RaceResult:
        own, other = track.working(SHORT), track.working(SHORT)
        lying(own, 0.3, 0.3)
        own.asked = asked

        def seen(fields: dict[str, Any]) -> None:
            more = len(fields.get("order", ())) * 30e-6 if fields.get("waits") else 0
            other.host = lambda: track.clock.spend(more)

        before(other, seen)
        return track.run(own, other)

    with pytest.raises(FaultError, match="in two races") as caught:
        run(0.5)
    assert caught.value.status is Status.TAMPERED
    result = run(1.0)
    assert not result.clear and "waits for the GPU" in result.why
    assert not result.against().beyond(0.1)
