"""The race on a clock that only work moves: ratios, results that are compared, times that are claimed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
import torch

from grader.domain.verdict import Status
from grader.player.commands import race_blocks
from grader.player.commands.race_blocks import Contenders
from grader.player.timing import result_copies
from grader.referee.fault import FaultError
from grader.referee.timing import back_to_back, cross_check, race, setup, two_clocks
from grader.referee.timing.contender import COPY
from grader.referee.timing.plan import call_order
from grader.referee.timing.timed_results import difference
from tests.referee.timing.track import CASE, Player, Track, raced

if TYPE_CHECKING:
    from collections.abc import Callable


def test_twice_as_fast_is_said_to_be(track: Track) -> None:
    result = track.run(track.working(100e-6), track.working(200e-6))
    found = result.against()
    assert found.ratio == pytest.approx(2.0, rel=0.01) and found.outcome == "faster"
    assert found.low < found.ratio < found.high and found.half_width < 0.01
    assert (
        result.compared
        == 2 * result.rounds * result.plan.calls
        + two_clocks.BLOCKS_OF_LONG_CALLS * back_to_back.COMPARED_CALLS
        >= 2 * 6 * 4
    )


def test_one_percent_is_resolved_and_the_same_is_not_called_faster(track: Track) -> None:
    slower = track.run(track.working(101e-6), track.working(100e-6)).against()
    assert slower.outcome == "slower" and 0.985 < slower.ratio < 0.995
    same = track.run(track.working(100e-6), track.working(100e-6)).against()
    assert same.half_width < 0.007 and abs(same.ratio - 1) < 0.003


def test_a_slow_host_is_no_cheat(track: Track) -> None:
    """Its time is waited for by overwriting the cache more often, for everybody."""
    own, other = track.working(100e-6), track.working(100e-6)
    session = track.session(own, other)
    start = setup.set_up(session, CASE)
    assert start.flushes >= 2
    raced(session, start)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.5, 0.01])
def test_times_that_are_claimed_too_short_are_tampering(track: Track, factor: float) -> None:
    own = track.working(100e-6)
    own.claims = lambda seconds: [s * factor for s in seconds]
    with pytest.raises(FaultError, match="referee's clock") as caught:
        track.run(own, track.working(200e-6))
    assert caught.value.status is Status.TAMPERED


@pytest.mark.parametrize("claim", [[], [1e-5], ["1"] * 40, [float("nan")] * 40, [-1.0] * 40, None])
def test_times_that_are_none_are_tampering(track: Track, claim: object) -> None:
    own = track.working(100e-6)
    own.claims = lambda seconds: claim if seconds else []  # type: ignore[return-value]
    with pytest.raises(FaultError) as caught:
        track.run(own, track.working(100e-6))
    assert caught.value.status is Status.TAMPERED


def test_a_result_that_is_remembered_is_found(track: Track) -> None:
    calls: list[torch.Tensor] = []

    def lazy(x: torch.Tensor) -> torch.Tensor:
        calls.append(torch.sigmoid(x) if len(calls) < 200 else calls[len(calls) % 7])
        return calls[-1]

    with pytest.raises(FaultError, match="another result") as caught:
        track.run(track.working(1e-6, lazy), track.working(100e-6))
    assert caught.value.status is Status.WRONG_OUTPUT


def test_one_wrong_element_in_one_call_is_found(track: Track) -> None:
    calls = 0

    def nearly(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        out = torch.sigmoid(x)
        if calls == 321:
            out.view(-1)[77] += 0.25
        return out

    with pytest.raises(FaultError, match="another result"):
        track.run(track.working(1e-4, nearly), track.working(1e-4))


def rewriting(own: Player, right: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Between the end of a block and the request for its results, the right ones are put in their place."""
    ask, seen = own.ask, []

    def later(do: str, seconds: float, **fields: Any) -> Any:
        if fields.get("step") == "results" and seen:
            for copies, x in zip(
                own.stage.kept(Contenders, Contenders)["submission"].results, seen, strict=True
            ):
                copies[0].copy_(right(x))
        if fields.get("step") == "block":
            seen.clear()
        return ask(do, seconds, **fields)

    lazy = own.stage.module.work  # type: ignore[union-attr]
    vars(own.stage.module)["work"] = lambda x: (seen.append(x.clone()), lazy(x))[1]
    own.ask = later  # type: ignore[method-assign]


@pytest.mark.parametrize("work", [torch.zeros_like, torch.sigmoid])
def test_results_that_are_put_in_place_after_the_block_are_tampering(track: Track, work: Any) -> None:
    """Also where a copy in this process is right and is replaced by the same: then nothing is wrong."""
    own = track.working(1e-6, work)
    rewriting(own, torch.sigmoid)
    if work is torch.sigmoid:
        assert track.run(own, track.working(100e-6)).compared
        return
    with pytest.raises(FaultError, match="changed after the block") as caught:
        track.run(own, track.working(100e-6))
    assert caught.value.status is Status.TAMPERED


@pytest.mark.parametrize("sums", [None, [], [0.5] * 40, ["1"] * 40, [[1]] * 40, [True] * 40])
def test_sums_that_are_none_are_refused(track: Track, sums: object) -> None:
    own = track.working(1e-4)
    ask = own.ask

    def false(do: str, seconds: float, **fields: Any) -> Any:
        answer = ask(do, seconds, **fields)
        if "sums" in answer.data and len(answer.data["sums"]) > 2:
            answer.data["sums"] = sums
        return answer

    own.ask = false  # type: ignore[method-assign]
    with pytest.raises(FaultError) as caught:
        track.run(own, track.working(1e-4))
    assert caught.value.status in (Status.TAMPERED, Status.WRONG_OUTPUT)


@pytest.mark.parametrize(
    "result",
    [
        torch.randn(40, 30), torch.randn(40, 30).half().T, torch.randn(7, 3).double(), torch.randn(9) > 0,
        torch.randint(-9, 9, (5, 5)), torch.randint(0, 255, (1 << 20,), dtype=torch.uint8),
        torch.randn(4, 4, dtype=torch.complex64), torch.randn(3, dtype=torch.complex128).conj(),
        torch.zeros(0, 3), torch.tensor(-1.5),
    ],
)  # fmt: skip
def test_both_sides_find_the_same_sum_of_bits(result: torch.Tensor) -> None:
    (copied,) = result_copies.copies(result)
    found = difference(copied.numpy(), copied.numpy())
    assert found[0] == 0 and (found[1] - int(result_copies.sum_of_bits(copied))) % 2**64 == 0


@pytest.mark.parametrize("wrong", [lambda y: y[:3], lambda y: y.double(), lambda y: (y, y), lambda y: 1.0])
def test_results_of_another_form_are_found(track: Track, wrong: object) -> None:
    calls = 0

    def changes(x: torch.Tensor) -> object:
        nonlocal calls
        calls += 1
        y = torch.sigmoid(x)
        return wrong(y) if calls > 150 else y  # type: ignore[operator]

    with pytest.raises(FaultError) as caught:
        track.run(track.working(1e-4, changes), track.working(1e-4))
    assert caught.value.status is Status.WRONG_OUTPUT


def test_lower_precision_between_timed_calls_is_judged_as_in_a_case(track: Track) -> None:
    def coarse(x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x.bfloat16()).float()

    with pytest.raises(FaultError) as caught:
        track.run(track.working(1e-4, coarse), track.working(1e-4))
    assert caught.value.status is Status.PRECISION


def test_sets_are_never_the_same_twice_in_a_row_and_all_are_used(track: Track) -> None:
    session = track.session(track.working(1e-4), track.working(1e-4))
    start = setup.set_up(session, CASE)
    for _ in range(50):
        found = call_order(start.plan, session.rng)
        assert len(found) == start.plan.calls and set(found) == set(range(start.plan.sets))
        assert all(a != b for a, b in itertools.pairwise(found))


def test_a_copy_beside_a_race_gets_no_inputs_and_has_no_result(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race_blocks, "copying", lambda nbytes: lambda *_: track.clock.spend(nbytes * 1e-12))
    session = track.session(track.working(1e-4), track.working(1e-4))
    one = race.set_up_race([session], CASE, copy_bytes=50_000_000)
    one.run()
    result = one.result()
    assert result.against(COPY).ratio == pytest.approx(0.5, rel=0.05)
    assert result.compared == result.plan.calls * 2 * result.rounds + 4 * back_to_back.COMPARED_CALLS
    copying = track.players[1].stage.kept(Contenders, Contenders)[COPY]
    assert copying.given == [[]] and copying.results[0] == []


def test_a_baseline_that_was_slowed_down_is_found(track: Track) -> None:
    """Alone it is quicker: something held the device in its turns."""
    reference = track.working(100e-6)
    session = track.session(track.working(100e-6), reference)
    one = race.set_up_race([session], CASE)
    one.run()
    result = one.result()
    assert cross_check.slowed(result.baselines["eager"], one.reference_alone()) == ""
    quick = track.working(50e-6)
    reference.stage.module = quick.stage.module
    reference.stage.kept(Contenders, Contenders)["eager"].target = quick.stage.entry("work")
    assert "kept the GPU busy" in cross_check.slowed(result.baselines["eager"], one.reference_alone())
