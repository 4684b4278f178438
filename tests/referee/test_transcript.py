"""What the host tells the device in two calls with other values, and what that shows."""

import numpy as np
import pytest

from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Status
from grader.protocol.play import Told
from grader.referee import own_work, rounds
from grader.referee.transcript import allowed, difference

SHAPE = (1, 1, 1, 64, 1, 1, 0, 1, 1, 1, 0)
CASE = Case("one", (Tensor((30, 40)),), "One.", 1)
TASK = Task(title="square", entry="square", cases=(CASE,), own="all")


def _launch(name: str, *arguments: int) -> Told:
    return Told(f"a launch of {name}", SHAPE + arguments)


def test_the_same_is_no_difference() -> None:
    told = [Told("a fill", (1, 2)), _launch("k", 1, 0, 2, 0)]
    assert difference(told, list(told)).words == 0


def test_words_at_the_same_place_are_counted() -> None:
    one, other = ([_launch("k", i, 0), _launch("k", 7, i)] for i in (1, 2))
    found = difference(one, other)
    assert (found.words, found.things) == (2, 2)
    assert found.first == "a launch of k (arguments)"
    other[0] = Told("a launch of k", (9, *other[0].words[1:]))
    assert difference(one, other).first == "a launch of k (grid)"


def test_an_order_of_launches_says_something() -> None:
    one = [_launch("zero"), *(_launch("bit0" if i % 3 else "bit1") for i in range(30)), _launch("end")]
    other = [_launch("zero"), *(_launch("bit0" if i % 5 else "bit1") for i in range(30)), _launch("end")]
    found = difference(one, other)
    assert found.words > 100 and "bit1, which the other call did not have there" in found.first


def test_what_only_one_call_was_told_is_counted_in_full() -> None:
    launched = [_launch("k", 1)]
    assert difference(launched, [Told("a fill", tuple(range(20))), *launched]).words == 21


@pytest.mark.parametrize(("size", "words"), [(1, 0), (7, 0), (8, 1), (64, 8), (1 << 20, 16)])
def test_a_seed_is_allowed_and_a_small_result_is_not(size: int, words: int) -> None:
    assert allowed(size) == words


def test_more_words_are_the_hosts_work() -> None:
    one, other = ([Told("numbers that the host copies", tuple(range(n, n + 40)))] for n in (0, 1))
    found = own_work.by_the_host(TASK, CASE, one, other, 1200)
    assert found is not None and found.status is Status.NO_KERNEL
    assert "in 40 words" in found.message and "numbers that the host copies" in found.message
    assert own_work.by_the_host(TASK, CASE, one, list(one), 1200) is None


def test_what_torch_may_prepare_may_depend_on_the_values() -> None:
    one, other = ([Told("numbers by torch's sub", tuple(range(n, n + 80)), 1)] for n in (0, 80))
    prepared = Task(title="t", entry="t", cases=(CASE,), own="prepared")
    assert own_work.by_the_host(TASK, CASE, one, other, 1200) is not None
    assert own_work.by_the_host(prepared, CASE, one, other, 1200) is None


def test_two_calls_with_other_values_are_watched() -> None:
    rng = np.random.default_rng(3)
    planned = [rounds.FIRST, rounds.MOVE, rounds.REFILL, rounds.SWAP]
    for _ in range(50):
        a, b = sorted(rounds.watched(planned, rng, twice=True))
        assert a in (0, 1) and b in (2, 3)
        assert len(rounds.watched(planned, rng, twice=False)) == 1
    assert rounds.watched([rounds.FIRST], rng, twice=True) == {0}
