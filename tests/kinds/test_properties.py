"""Properties of an operator and open-ended ratios: what is given, what waits for a GPU, what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from grader import kinds
from grader.kinds import Check
from grader.kinds.operator import Operator, Property
from grader.kinds.ratio import Ratio
from grader.referee import timing
from grader.referee.fault import FaultError
from grader.task import Case
from grader.verdict import Finding, Status

CASE = Case("ordinary")
PART = Operator(
    "op", (Property("gradient", "gradient", 2, "Flows."), Property("huge", "huge", 1, "Big.", gpu=True))
)


def room(backend="simt", *, right=True, wrong=""):
    """A room whose submission answers ``wrong`` to every trial."""
    finding = Finding("ordinary", Status.PASSED if right else Status.WRONG_OUTPUT, points=1, max_points=1)
    match = SimpleNamespace(
        task=SimpleNamespace(cases=(CASE,)), record=SimpleNamespace(findings=[finding]), player=None
    )
    return SimpleNamespace(
        backend=backend,
        match=match,
        rng=np.random.default_rng(0),
        act=lambda act, **fields: {"wrong": wrong},
    )


@pytest.mark.parametrize(
    ("where", "status"),
    [
        (room(), [Status.PASSED, Status.PENDING_GPU]),
        (room("cuda"), [Status.PASSED, Status.PASSED]),
        (room(right=False), [Status.NOT_RUN, Status.NOT_RUN]),
        (room(wrong="The result has requires_grad=False."), [Status.FAILED, Status.PENDING_GPU]),
    ],
)
def test_properties(where, status):
    found = list(PART.judge(where))
    assert [f.status for f in found] == status
    assert [f.points for f in found] == [
        p.points * (s is Status.PASSED) for p, s in zip(PART.properties, status, strict=True)
    ]


def test_a_strange_answer_is_no_pass():
    assert next(iter(PART.judge(room(wrong=None)))).status is Status.FAILED


@pytest.mark.parametrize(
    ("own", "eager", "points", "status"),
    [
        ([2.0] * 5, [1.0] * 5, 0, Status.FAILED),
        ([1.0] * 5, [1.2] * 5, 1, Status.PASSED),
        ([1.0] * 5, [9.0] * 5, 3, Status.PASSED),
        ([], [1.0], 0, Status.TAMPERED),
    ],
)
def test_a_ratio_earns_its_steps(monkeypatch, own, eager, points, status):
    monkeypatch.setattr(timing, "race", lambda match, case: (own, eager))
    (found,) = Ratio(CASE, (1.0, 1.5, 2.0), "Faster.").judge(room("cuda"))
    assert (found.points, found.max_points, found.status) == (points, 3, status)


def test_without_a_gpu_or_right_cases_nothing_is_timed():
    part = Ratio(CASE, (1.0,), "Faster.")
    assert next(iter(part.judge(room()))).status is Status.PENDING_GPU
    assert next(iter(part.judge(room("cuda", right=False)))).status is Status.NOT_RUN


def test_a_submission_that_has_died_too_often_keeps_its_other_findings():
    class Exhausted:
        checks = (Check("one", 2, "Why."),)

        def judge(self, room):
            raise FaultError(Status.NOT_RUN, "It has died too often.")

    (found,) = kinds.judge(Exhausted(), SimpleNamespace(on_cpu=None), True)
    assert (found.id, found.status, found.points, found.max_points) == ("one", Status.NOT_RUN, 0, 2)
