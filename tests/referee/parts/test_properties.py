"""Properties of an operator and open-ended ratios: what is given, what waits for a GPU, what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from grader.domain.lessons import find
from grader.domain.task import Case
from grader.domain.verdict import Finding, Status
from grader.protocol.messages import MemoryFinding
from grader.referee import parts
from grader.referee.fault import FaultError
from grader.referee.parts import Check
from grader.referee.parts.operator import Operator, Property
from grader.referee.parts.ratio import Ratio
from grader.referee.session import Session
from grader.referee.timing import measure
from grader.referee.timing.cross_check import Blocks
from grader.referee.timing.plan import make_plan
from grader.referee.timing.race_result import RaceResult

CASE = Case("ordinary")
PART = Operator(
    "op", (Property("gradient", "gradient", 2, "Flows."), Property("huge", "huge", 1, "Big.", gpu=True))
)


def part_session(backend="simt", *, right=True, wrong=""):
    """A session whose submission answers ``wrong`` to every check."""
    finding = Finding("ordinary", Status.PASSED if right else Status.WRONG_OUTPUT, points=1, max_points=1)
    session = SimpleNamespace(
        task=SimpleNamespace(cases=(CASE,)),
        record=SimpleNamespace(findings=[finding]),
        player=None,
        twin=None,
    )
    return SimpleNamespace(
        backend=backend,
        grading=session,
        rng=np.random.default_rng(0),
        command=lambda command, **fields: {"wrong": wrong},
    )


@pytest.mark.parametrize(
    ("where", "status"),
    [
        (part_session(), [Status.PASSED, Status.PENDING_GPU]),
        (part_session("cuda"), [Status.PASSED, Status.PASSED]),
        (part_session(right=False), [Status.NOT_RUN, Status.NOT_RUN]),
        (part_session(wrong="The result has requires_grad=False."), [Status.FAILED, Status.PENDING_GPU]),
    ],
)
def test_properties(where, status):
    found = list(PART.judge(where))
    assert [f.status for f in found] == status
    assert [f.points for f in found] == [
        p.points * (s is Status.PASSED) for p, s in zip(PART.properties, status, strict=True)
    ]


BEFORE = Operator("op", (Property("huge", "huge", 1, "Big.", gpu=True, before="wide"),))


@pytest.mark.parametrize(
    ("wrong", "status"), [("", Status.PENDING_GPU), ("Its index has 32 bits", Status.FAILED)]
)
def test_what_a_cpu_can_show_of_a_gpus_property_may_fail_it_and_never_earns_it(wrong, status):
    (found,) = BEFORE.judge(part_session(wrong=wrong))
    assert (found.status, found.points) == (status, 0)
    (on_gpu,) = BEFORE.judge(part_session("cuda"))
    assert on_gpu.ok


def test_a_fault_of_an_operator_is_told_with_what_its_threads_did():
    what = "reads element 9 of grad, which has 1"
    seen = MemoryFinding(
        kind="out-of-bounds", kernel="kernel", what=what, line=31, block=(0, 0, 0), thread=(9, 0, 0)
    )

    def broken(command, **fields):
        raise FaultError(Status.ILLEGAL_ACCESS, "CUDA error.", dead=True).with_findings([seen])

    where = part_session()
    where.command = broken
    where.fallen = lambda check, fault: fault.finding(check.name, check.points)
    found = next(iter(PART.judge(where)))
    assert found.status is Status.ILLEGAL_ACCESS and "element 9 of grad" in found.message


def test_a_strange_answer_is_no_pass():
    assert next(iter(PART.judge(part_session(wrong=None)))).status is Status.FAILED


def raced(own: float, eager: float) -> RaceResult:
    """A race of twelve pairs of blocks with a little spread."""
    pairs = [([own * (1 + i / 1e4)] * 4, [eager] * 4) for i in range(12)]
    mine, theirs = (Blocks([pair[side] for pair in pairs], [10.0] * 12) for side in (0, 1))
    return RaceResult(mine, {"eager": theirs}, make_plan(1, 1, 1), {"eager": pairs}, rounds=6, compared=48)


@pytest.mark.parametrize(
    ("own", "eager", "points", "status"),
    [
        (2.0, 1.0, 0, Status.FAILED),
        (1.0, 1.2, 1, Status.PASSED),
        (1.0, 1.5001, 1, Status.PASSED),  # the interval reaches below 1.5
        (1.0, 9.0, 3, Status.PASSED),
    ],
)
def test_a_ratio_earns_the_steps_that_its_whole_interval_is_beyond(monkeypatch, own, eager, points, status):
    found = measure.Measurement(raced(own, eager), 2, {})
    monkeypatch.setattr(measure, "measured", lambda session, case, **least: found)
    (found,) = Ratio(CASE, (1.0, 1.5, 2.0), "Faster.").judge(part_session("cuda"))
    assert (found.points, found.max_points, found.status) == (points, 3, status)
    assert found.evidence["interval"][0] < found.evidence["ratio"] < found.evidence["interval"][1]


@pytest.mark.parametrize("status", [Status.TAMPERED, Status.WRONG_OUTPUT, Status.TIMEOUT])
def test_who_cheats_for_a_ratio_loses_everything(monkeypatch, status):
    def caught(session, case, **least):
        raise FaultError(status, "The clocks disagree.")

    monkeypatch.setattr(measure, "measured", caught)
    where = part_session("cuda")
    where.fallen = lambda check, fault: fault.finding(check.name, check.points)
    where.grading.forfeit = lambda: Session.forfeit(where.grading)
    (found,) = Ratio(CASE, (1.0,), "Faster.").judge(where)
    assert (found.points, found.status) == (0, status)
    assert where.grading.record.findings[0].points == (status is Status.TIMEOUT)


def test_what_a_call_needs_at_the_least_is_told_to_the_clock(monkeypatch):
    told = {}

    def seen(session, case, **least):
        told.update(least)
        return measure.Measurement(raced(1.0, 1.2), 2, {})

    monkeypatch.setattr(measure, "measured", seen)
    list(Ratio(CASE, (1.0,), "Faster.", read_bytes=7, flops=9).judge(part_session("cuda")))
    assert told == {"read_bytes": 7, "flops": 9}
    (part,) = [p for p in find("13").task.parts if isinstance(p, Ratio)]
    rows, inner, columns = 1024, 8192, 8192
    assert part.read_bytes == 4 * (rows * inner + columns * inner + columns)
    assert part.flops == 2 * rows * inner * columns


def test_without_a_gpu_or_right_cases_nothing_is_timed():
    part = Ratio(CASE, (1.0,), "Faster.")
    assert next(iter(part.judge(part_session()))).status is Status.PENDING_GPU
    assert next(iter(part.judge(part_session("cuda", right=False)))).status is Status.NOT_RUN


def test_a_submission_that_has_died_too_often_keeps_its_other_findings():
    class Exhausted:
        checks = (Check("one", 2, "Why."),)

        def judge(self, part_session):
            raise FaultError(Status.NOT_RUN, "It has died too often.")

    (found,) = parts.judge(Exhausted(), SimpleNamespace(on_cpu=None), loaded=True)
    assert (found.id, found.status, found.points, found.max_points) == ("one", Status.NOT_RUN, 0, 2)
