"""Results of timed calls on their way: some are fetched while others are compared."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from grader.domain.verdict import Status
from grader.player.commands.race_blocks import Contenders
from grader.referee.fault import FaultError
from grader.referee.timing import setup, timed_results
from tests.referee.timing.track import CASE, Track

if TYPE_CHECKING:
    from grader.referee.timing.setup import ProcessPair

CALLS = 5


@pytest.fixture
def pair(track: Track, monkeypatch: pytest.MonkeyPatch) -> ProcessPair:
    """Both have made a block of calls, and each result takes a request of its own."""
    session = track.session(track.working(1e-4), track.working(1e-4))
    found = setup.set_up(session, CASE)
    for contender in (found.submission, found.reference):
        contender.run_block([0, 1, 0, 1, 0], 7)
    monkeypatch.setattr(timed_results, "FETCH", 1)
    return found


def compare(pair: ProcessPair) -> int:
    calls = range(CALLS)
    return timed_results.compare(pair.submission, pair.reference, calls, CALLS, pair.outputs, pair.bound)


def kept(pair: ProcessPair, which: str) -> list[list[torch.Tensor]]:
    """The results as a process holds them."""
    player: Any = (pair.submission if which == "submission" else pair.reference).player
    return player.stage.kept(Contenders, Contenders)[which].results


def test_results_that_are_the_same_are_all_compared(pair: ProcessPair) -> None:
    assert compare(pair) == CALLS


@pytest.mark.parametrize("call", range(CALLS))
def test_a_wrong_one_is_found_wherever_it_is(pair: ProcessPair, call: int) -> None:
    kept(pair, "eager")[call][0].view(-1)[-1] += 0.25
    with pytest.raises(FaultError, match="another result") as caught:
        compare(pair)
    assert caught.value.status is Status.WRONG_OUTPUT


@pytest.mark.parametrize("call", range(CALLS))
def test_each_is_held_against_its_own_sum(pair: ProcessPair, call: int) -> None:
    one = kept(pair, "submission")[call][0].view(-1)
    one[-1] = torch.nextafter(one[-1], torch.tensor(9.0))  # as near as nothing
    with pytest.raises(FaultError, match="changed after the block") as caught:
        compare(pair)
    assert caught.value.status is Status.TAMPERED


def test_what_is_compared_is_not_written_meanwhile(
    pair: ProcessPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each process, one request's results lie beside the next one's, never in the same place."""
    places: dict[str, list[set[int]]] = {}
    before = timed_results.shown

    def seen(contender: Any, calls: Any, outputs: Any, base: int = 0) -> Any:
        views = before(contender, calls, outputs, base)
        begin = np.frombuffer(contender.player.outbox.map, np.uint8).ctypes.data
        at = views[0][0].ctypes.data - begin
        places.setdefault(contender.name, []).append(set(range(at, at + views[0][0].nbytes)))
        return views

    monkeypatch.setattr(timed_results, "shown", seen)
    compare(pair)
    for each in places.values():
        assert len(each) == CALLS
        assert not any(a & b for a, b in itertools.pairwise(each))


@pytest.mark.parametrize("size", [1, 7, 300_000, 1_100_000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.bool_])
def test_a_difference_is_that_of_all_elements(size: int, dtype: Any) -> None:
    """In pieces, by several threads, in memory that is used again: twice with other values."""
    rng = np.random.default_rng(size)
    for scale in (1.0, 0.25):
        wanted = (scale * 8 * rng.standard_normal(size)).astype(dtype)
        got = wanted.copy()
        assert timed_results.difference(got, wanted)[0] == 0.0
        got[-1] = not got[-1] if dtype is np.bool_ else got[-1] + dtype(3)
        far = timed_results.difference(got, wanted)[0]
        if wanted.dtype.kind != "f":
            assert far == math.inf
        else:
            squares = np.square(wanted.astype(np.float64))
            plain = np.abs(got.astype(np.float64) - wanted).max() / np.sqrt(squares.mean())
            assert far == pytest.approx(plain, rel=2e-3)
            got[size // 2] = np.nan
            assert timed_results.difference(got, wanted)[0] == math.inf
