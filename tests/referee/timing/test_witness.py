"""Two clocks that disagree: what is a cheat, what is a host that did something else, what is unknown."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from grader.domain.verdict import Status
from grader.player.commands import race_blocks as act
from grader.player.timing.streams_and_cache import waiting
from grader.referee.fault import FaultError
from grader.referee.timing import cross_check, race
from grader.referee.timing.cross_check import Blocks
from grader.referee.timing.plan import CALLS
from tests.referee.timing.track import CASE, Player, Races, Session, Track

if TYPE_CHECKING:
    from collections.abc import Callable

CALL = 100e-6


pytestmark = pytest.mark.usefixtures("few_resamples")


def some(share: float, seed: int = 3) -> Callable[[], bool]:
    """True in that share of calls, in no order."""
    chance = random.Random(seed)
    return lambda: chance.random() < share


def noisy(track: Track, player: Player, share: float, seconds: float = 5.6e-3, seed: int = 3) -> None:
    """The host does something else for so long, in a share of the player's blocks."""
    struck = some(share, seed)
    player.host = lambda: track.clock.spend(seconds) if struck() else None


def hiding(player: Player, share: float, factor: float = 0.5) -> None:
    """In a share of its blocks the player says that it took so much less."""
    struck = some(share)
    player.claims = lambda seconds: [s * factor for s in seconds] if struck() else seconds


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_host_that_is_busy_in_some_blocks_is_no_cheat(track: Track, share: float) -> None:
    """140 us more for each call, as in a grading beside a batch, that was called tampered with once."""
    own = track.working(CALL)
    noisy(track, own, share)
    result = track.run(own, track.working(CALL))
    found = result.against()
    assert found.outcome in ("same", "too noisy to tell") and abs(found.ratio - 1) < 0.01
    assert not all(result.confirmed) and found.pairs <= len(result.confirmed)


@pytest.mark.slow
def test_a_host_that_is_busy_for_everybody_is_no_cheat(track: Track) -> None:
    own, other = track.working(CALL), track.working(CALL)
    noisy(track, own, 0.8)
    noisy(track, other, 0.8)
    assert track.run(own, other).against().outcome in ("same", "too noisy to tell")


@pytest.mark.slow
def test_where_most_blocks_are_not_confirmed_nothing_is_claimed(track: Track) -> None:
    own = track.working(CALL)
    noisy(track, own, 0.9)
    result = track.run(own, track.working(2 * CALL))
    found = result.against()
    assert not result.clear and found.outcome == "too noisy to tell"
    assert found.ratio > 1.9 and not found.beyond(1.0)


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_work_hidden_in_the_blocks_that_make_the_median_is_tampering(track: Track, share: float) -> None:
    own = track.working(CALL)
    hiding(own, share)
    with pytest.raises(FaultError, match="in two races") as caught:
        track.run(own, track.working(CALL))
    assert caught.value.status is Status.TAMPERED
    (before, _), blocks = caught.value.evidence["races"], caught.value.evidence["races"][1]["submission"]
    assert len(blocks["claims"]) == len(blocks["walls"]) >= 12
    rows = caught.value.evidence["races"][1]["rows"]
    assert len(rows["submission"]["walls"]) == len(rows["reference"]["claims"]) >= 12
    assert min(before["submission"]["claims"]) == pytest.approx(CALL / 2, rel=0.05)


@pytest.mark.parametrize(("share", "factor"), [(0.3, 0.5), (0.1, 0.01)])
def test_work_hidden_in_a_few_blocks_gains_nothing(track: Track, share: float, factor: float) -> None:
    own = track.working(CALL)
    hiding(own, share, factor)
    try:
        found = track.run(own, track.working(CALL)).against()
    except FaultError as fault:
        assert fault.status is Status.TAMPERED
    else:
        assert found.outcome != "faster" and not found.beyond(1.005)


def test_work_hidden_by_one_process_of_three_gains_nothing(track: Track) -> None:
    def pair(player: Player) -> Session:
        return track.session(player, track.working(CALL))

    cheat = track.working(CALL)
    hiding(cheat, 1.0)
    others = [pair(cheat), pair(track.working(CALL)), pair(track.working(CALL))]
    first = pair(track.working(CALL))
    ready = iter(others)
    first.twin = lambda _: next(ready)
    one = race.set_up_race([first], CASE)
    one.run()
    result = one.result()
    assert not result.clear and result.against().outcome == "too noisy to tell"


def test_a_second_race_that_agrees_is_the_one_that_counts(track: Track) -> None:
    own, blocks = track.working(CALL), iter(range(10_000))
    own.host = lambda: track.clock.spend(5e-3) if next(blocks) < 13 else None
    result = track.run(own, track.working(2 * CALL))
    assert result.clear and result.against().outcome == "faster" and all(result.confirmed)


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(("races", "clear"), [(2, True), (3, False)])
def test_a_third_race_is_the_last(
    track: Track, monkeypatch: pytest.MonkeyPatch, races: int, clear: bool
) -> None:
    """A host that is busy in three blocks of four is no cheat, and nothing is claimed while it is."""
    own, blocks, seen = track.working(CALL), iter(range(10_000)), Races(monkeypatch)
    own.host = lambda: track.clock.spend(5e-3) if next(blocks) % 4 and seen.begun <= races else None
    result = track.run(own, track.working(2 * CALL))
    assert seen.begun == 3 and result.clear is clear
    assert result.against().outcome == ("faster" if clear else "too noisy to tell")


@pytest.mark.parametrize(("share", "tampered"), [(1.0, False), (0.2, True)])
def test_a_call_that_waits_for_the_device_is_not_accused_and_not_timed(
    track: Track, monkeypatch: pytest.MonkeyPatch, share: float, tampered: bool
) -> None:
    """40 us more between its calls; those of the reference take ``share`` of it when they wait as well."""
    own, other = track.working(CALL), track.working(CALL)
    own.asked = 1.0
    waits: list[int] = []
    monkeypatch.setattr(act, "waiting", lambda target, *_: waits.append(1) or target)
    own.host = lambda: track.clock.spend(CALLS * 40e-6)
    other.host = lambda: track.clock.spend(share * CALLS * 40e-6) if waits and not waits.clear() else None
    if tampered:
        with pytest.raises(FaultError, match="in two races"):
            track.run(own, other)
        return
    result = track.run(own, other)
    assert result.against().outcome == "too noisy to tell" and not result.against().beyond(0.1)
    assert "waits for the GPU" in result.why


def drained(track: Track, player: Player, before: float, after: float, when: list[int] | None = None) -> None:
    """The machine takes so much longer a call in blocks that nobody drains, and in those that somebody does.

    With ``when`` only in a block in which that is no longer empty.
    """
    ask = player.ask

    def longer(do: str, seconds: float, **fields: Any) -> Any:
        more = len(fields.get("order", ())) * (after if fields.get("drain") else before)
        player.host = lambda: track.clock.spend(more) if when is None or (when and not when.clear()) else None
        return ask(do, seconds, **fields)

    player.ask = longer  # type: ignore[method-assign]


def test_a_call_that_waits_has_its_speed_where_it_is_waited_for_after_each(track: Track) -> None:
    """95 us more between its calls, as an H200 showed it for one of 343 us, and nothing once all wait."""
    own = track.working(343e-6)
    own.asked = 1.0
    drained(track, own, 95e-6, 2e-6)
    result = track.run(own, track.working(2 * 343e-6))
    assert result.clear and all(result.confirmed) and result.against().outcome == "faster"
    assert result.against().ratio == pytest.approx(2, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("more", "tampered"), [(20e-6, True), (170e-6, False)])
def test_who_hides_less_than_a_waiting_call_explains_is_caught_where_all_wait(
    track: Track, monkeypatch: pytest.MonkeyPatch, more: float, tampered: bool
) -> None:
    """Half of 343 us is hidden, which waiting would explain as long as it makes a difference."""
    own, other = track.working(343e-6), track.working(343e-6)
    hiding(own, 1.0)
    own.asked = 1.0
    waits: list[int] = []
    monkeypatch.setattr(act, "waiting", lambda target, *_: waits.append(1) or target)
    drained(track, other, 170e-6, more, waits)
    if not tampered:
        result = track.run(own, other)
        assert not result.clear and not result.against().beyond(0.1)
        return
    with pytest.raises(FaultError, match="in two races") as caught:
        track.run(own, other)
    assert caught.value.status is Status.TAMPERED


def test_the_reference_waits_only_where_there_is_a_suspicion(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    monkeypatch.setattr(act, "waiting", lambda target, *_: waits.append(1) or target)
    result = track.run(track.working(CALL), track.working(CALL))
    assert result.clear and not result.why and not waits


def test_a_waiting_call_waits_before_and_after_its_work() -> None:
    seen: list[str] = []
    call = waiting(
        lambda x: seen.append("work") or 2 * x, lambda: seen.append("empty"), lambda: seen.append("wait")
    )
    assert call(3) == 6
    assert seen == ["empty", "wait", "work", "wait"]


def test_a_busy_host_beside_the_race_has_slowed_nothing() -> None:
    during = Blocks([[CALL] * 4] * 8, [1e-3, 1e-3, 1e-3, 4e-3, 5e-3, 6e-3, 6e-3, 7e-3])
    alone = Blocks([[CALL] * 4] * 4, [1e-3] * 4)
    assert cross_check.slowed(during, alone) == ""
    assert "kept the GPU busy" in cross_check.slowed(Blocks(during.calls, [1.3e-3] * 8), alone)
