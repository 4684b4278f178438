"""What is remembered is found out: by address, by shape, by sum, by sample, by object, whatever the key."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Status
from grader.player.sides import submission_side
from grader.referee import further_calls, rounds
from grader.referee.case_calls import Calls
from grader.referee.lesson_problem import LessonProblem
from grader.referee.session import Session
from grader.referee.side import Reference
from tests.referee import plain
from tests.referee.in_process import InProcess
from tests.referee.plain import CASES

grade = partial(plain.grade, forked=True)

KEYS = {
    "address": "x.data_ptr()",
    "shape": "x.shape",
    "object": "id(x)",
    "address and version": "(x.data_ptr(), x._version)",
    "sum": "round(float(x.sum()), 2)",
    "norm": "round(float(x.norm()), 3)",
    "extremes": "(float(x.max()), float(x.min()))",
    "samples": "(float(x[0, 0]), float(x[-1, -1]), float(x[1, 2]))",
    "first call": "0",
}
MEMO = """
seen = {}
def double(x):
    key = %s
    if key not in seen: seen[key] = 2 * x
    return seen[key].clone()
"""


@pytest.mark.parametrize("name", KEYS)
def test_a_memory_fails_whatever_its_key(name: str, tmp_path: Path) -> None:
    verdict = grade(tmp_path, MEMO % KEYS[name], CASES * 4)
    failed = next(f for f in verdict.findings if not f.ok)
    assert failed.status is Status.WRONG_OUTPUT, verdict.findings
    assert "Call " in failed.message


SHARED = {
    "one buffer": "seen = {}\n"
    "def double(x): return torch.mul(x, 2, out=seen.setdefault(x.shape, torch.empty_like(x)))",
    "a view of the input": "def double(x): return x.set_(2 * x) if 0 else x.mul_(2)",
}


@pytest.mark.slow
def test_a_result_must_not_be_used_again(tmp_path: Path) -> None:
    verdict = grade(tmp_path, SHARED["one buffer"])
    assert verdict.status is Status.WRONG_OUTPUT
    assert "memory of its own" in verdict.findings[1].message


@pytest.mark.slow
def test_changing_the_input_is_told_with_its_number(tmp_path: Path) -> None:
    verdict = grade(tmp_path, SHARED["a view of the input"])
    assert verdict.status is Status.MUTATED_INPUT and "input 0" in verdict.findings[1].message


def test_the_same_call_gives_the_same_bits(tmp_path: Path) -> None:
    noisy = "def double(x): return 2 * x * (1 + 2e-7 * (torch.rand(()) > 0.5))"
    verdict = grade(tmp_path, noisy, CASES * 8)
    assert Status.WRONG_OUTPUT in {f.status for f in verdict.findings}


@pytest.mark.slow
def test_a_tensor_that_computes_when_it_is_read(tmp_path: Path) -> None:
    lazy = "class Tensor(torch.Tensor): pass\ndef double(x): return (2 * x).as_subclass(Tensor)"
    verdict = grade(tmp_path, lazy)
    assert verdict.status is Status.NOT_A_TENSOR


HASTY = """
calls = []
def double(x):
    calls.append(1)
    return (torch.zeros_like(x) if len(calls) == %d else x) %s 1
"""


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize(
    "call, what, told", [(2, "+", True), (3, "+", True), (1, "+", False), (2, "-", False)]
)
def test_who_does_not_wait_for_the_input_is_told_so(
    call: int, what: str, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not if it was the first call, whose input is there, and not if it is wrong for zeros too."""
    monkeypatch.setattr(Calls, "late", True)
    verdict = grade(tmp_path, HASTY % (call, what), CASES[:1], "def double(x): return x + 1")
    failed = next(f for f in verdict.findings if not f.ok)
    assert failed.status is Status.WRONG_OUTPUT
    assert ("current stream" in failed.message) is told, failed.message
    assert not told or f"Call {call}, after " in failed.message


@pytest.mark.slow
def test_an_input_of_one_element_or_none_is_played(tmp_path: Path) -> None:
    cases = (*CASES, *(Case(str(n), (Tensor((n,), device="cpu"),)) for n in (0, 1)))
    verdict = grade(tmp_path, "def double(x): return 2 * x", cases)
    assert verdict.ok, verdict.findings


COUNTED = "def double(x):\n    print('called with', x.numel())\n    return 2 * x"


@pytest.mark.slow
def test_few_elements_are_asked_for_more_often(tmp_path: Path) -> None:
    shapes = ((1, 1), (1, 5), (4, 6), (0, 3))
    cases = tuple(Case(str(s), (Tensor(s, device="cpu"),), points=1) for s in shapes)
    verdict = grade(tmp_path, COUNTED, cases)
    assert verdict.ok, verdict.findings
    counts = {n: verdict.output.split("\n").count(f"called with {n}") for n in (1, 5, 24, 0)}
    further = {n: counts[n] - least for n, least in ((1, 8 + 3), (5, 4 + 3), (24, 1 + 3), (0, 1))}
    assert min(further.values()) >= 0
    assert further[0] == 0  # a result without elements cannot be wrong
    # Of each two calls one may be followed by some of other sizes.
    most = (further_calls.MOST + 2 * len(cases)) * (1 + submission_side.MOST_AFTER / 2)
    assert further_calls.LEAST <= sum(further.values()) < most


SLOW = COUNTED.replace("return", "x.numel() == 7 and time.sleep(0.3)\n    return")


@pytest.mark.slow
def test_what_takes_its_time_is_not_asked_for_behind_other_calls(tmp_path: Path) -> None:
    """Neither many elements nor a slow call: all that follow one call belong to its limit of time."""
    large = submission_side.EARLIER_BYTES // 4 + 1
    cases = tuple(Case(str(n), (Tensor((n,), device="cpu"),), points=1) for n in (7, large, 24, 25))
    verdict = grade(tmp_path, "import time\n" + SLOW, cases)
    assert verdict.ok, verdict.findings
    counts = {n: verdict.output.split("\n").count(f"called with {n}") for n in (7, large, 24, 25)}
    few = max(counts[7], counts[large])
    assert few <= 4 + 3 + 1 and min(counts[24], counts[25]) > few, counts


def test_many_inputs_of_one_number_are_not_asked_for_more_often() -> None:
    small, large = (Case("sum", (Tensor((n, 64)),)) for n in (64, 65))
    assert rounds.more(small, 1) == 7 and rounds.more(large, 1) == 0
    assert rounds.more(replace(small, calls=3), 1) == 5 and rounds.more(replace(small, calls=9), 1) == 0
    assert rounds.more(replace(small, expect="raise"), 1) == 0 and rounds.more(small, 16) == 0


@pytest.mark.slow
def test_one_element_is_hardly_ever_right_by_chance(tmp_path: Path) -> None:
    """Half of all numbers are as large after ReLU as before it."""
    cases = tuple(Case(str(n), (Tensor((1, 1), device="cpu"),), points=1) for n in range(30))
    text, reference = "def double(x): return x.clone()", "def double(x): return torch.relu(x)\n"
    verdict = grade(tmp_path, text, cases, reference)
    passed = [f for f in verdict.findings if f.id != "load" and f.ok]
    assert len(passed) <= 2, len(passed)  # 0.06 are to be expected; of two calls each, 7.5


def test_an_answer_that_is_one_value_throughout_is_drawn_again() -> None:
    """ReLU below a strongly negative bias gives zeros: then a result of zeros would pass by chance."""
    asked: list[float] = []

    def shy(x: torch.Tensor) -> torch.Tensor:
        """Zeros, but for the third input; it is called twice for each, also in float64."""
        asked.append(float(x.double().sum()))
        return torch.rand(4, 8, dtype=x.dtype) if len(asked) in (5, 6) else torch.zeros_like(x)

    task, player = Task("shy", "shy"), InProcess(shy=shy)
    theirs = Reference(cast("Any", player), __file__)
    session = Session(task, __file__, lambda: cast("Any", InProcess()), theirs, LessonProblem)
    case = Case("relu", (Tensor((4, 8)),), "")
    session.problem.construct = lambda case: session.problem.begin(case)  # type: ignore[method-assign,attr-defined]
    session.problem.construct(case)
    calls = Calls(session, case)
    calls.draw(rounds.FIRST)
    assert len(asked) == 6 and len({round(x, 3) for x in asked}) == 3  # each time with other inputs
    assert calls.posed is not None and not calls.posed.says_little
    calls.draw(rounds.MOVE)  # the same values must give the same answer: nothing is drawn
    assert len(asked) == 6


LATER = """
last = None
def double(x):
    global last
    if last is not None and last.shape != x.shape and last.numel(): last.mul_(%s)
    last = 2 * x
    return last
"""


@pytest.mark.parametrize(("factor", "right"), [("0", False), ("1", True)])
def test_calls_of_other_sizes_follow_before_anything_waits(factor: str, right: bool, tmp_path: Path) -> None:
    others = tuple(replace(CASES[0], name=f"{n}", args=(Tensor((n, 7), device="cpu"),)) for n in (3, 5, 8))
    verdict = grade(tmp_path, LATER % factor, CASES + others)
    assert verdict.ok is right, verdict.findings
    assert right or any(rounds.BEHIND in f.message for f in verdict.findings)
