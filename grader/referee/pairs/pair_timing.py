"""The speed of a pair that passed: raced on a GPU, else predicted from what was counted on both sides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain import gpu_card
from grader.domain.speed import NoSpeed, Predicted
from grader.domain.speed import Speed as VerdictSpeed
from grader.domain.task import Case, Speed
from grader.domain.verdict import Status
from grader.referee import counting
from grader.referee.fault import FaultError
from grader.referee.pairs.pair_problem import PairProblem
from grader.referee.pairs.pair_spec import AS_GIVEN
from grader.referee.predict import call as predict
from grader.referee.predict import operator_times
from grader.referee.timing import task_speed

if TYPE_CHECKING:
    from grader.protocol.play import Work
    from grader.referee.session import Session

CASE = Case("speed", (), "", 0)
COUNTED = Case(AS_GIVEN, (), "", 0)
METHOD = (
    "the file's own launches each from what simt counted; for torch's operators on both sides the bytes of "
    "their tensors at a large copy's speed, products at the card's fp32 rate, and a launch each"
)

UNCOMPILED = "torch.compile compiles nothing without a GPU: what ran is eager, so no time is predicted."


def speed_of_pair(
    session: Session, baselines: tuple[str, ...] = (), card: str = gpu_card.DEFAULT
) -> VerdictSpeed | None:
    """The verdict's speed; ``card``: predicted for without a GPU."""
    if session.player is not None and session.player.backend == "cuda":
        return _raced(session, baselines)
    return _predicted(session, card)


def prepared(problem: PairProblem) -> Speed:
    """How large the call is, as :mod:`grader.referee.timing` needs to know; FaultError if it is not timed."""
    if problem.spec.specs or problem.large:
        raise FaultError(Status.NOT_GRADABLE, "Only pairs below a gibibyte of tensors are timed.")
    # A call need not read all of its inputs, nor write what is a view; of the smaller no one gets around.
    least = 2 * min(problem.inputs.nbytes, problem.result_bytes)
    eager = sum(moved for _, _, moved, _ in problem.work)
    return Speed(CASE, CASE, eager, least, max(1, least))


def posed(session: Session) -> PairProblem:
    """The problem of a session that grades a pair."""
    assert isinstance(session.problem, PairProblem)
    return session.problem


def _raced(session: Session, baselines: tuple[str, ...]) -> VerdictSpeed | None:
    try:
        what = prepared(posed(session))
    except FaultError as fault:
        return NoSpeed(fault.message)
    return task_speed.speed_of(session, replace(session.task, speed=what), "cuda", baselines)


def _predicted(session: Session, card_name: str) -> Predicted | NoSpeed | None:
    """Both sides by the same rule, from counts; never a measurement."""
    counted = max(
        counting.judged(session, COUNTED, weigh=True),
        key=lambda call: (call.moved_bytes, sum(moved for _, _, moved, _ in call.work)),
    )
    card = gpu_card.card(card_name)
    launches, ops = counted.launches, counted.work
    kernels = predict.predicted(launches, card)
    if launches and kernels.why_not:
        return NoSpeed(f"no prediction for {card.name}: {kernels.why_not}.{predict.offer(launches)}")
    if not launches and posed(session).uncompiled:
        return NoSpeed(UNCOMPILED)
    own = kernels.seconds + operator_seconds(card, ops)
    eager = operator_seconds(card, posed(session).work)
    if not own or not eager:
        return None
    return Predicted(
        device=card.name,
        method=METHOD,
        counted_bytes=sum(x.counts.moved_bytes for x in launches if x.counts)
        + sum(moved for _, _, moved, _ in ops),
        launches=len(launches) + sum(calls for _, calls, _, _ in ops),
        kernel_seconds=own,
        eager_kernel_seconds=eager,
        kernel_ratio=eager / own,
        whole_ratio=eager / own,
        limits=list(kernels.limits),
    )


def operator_seconds(card: gpu_card.Card, ops: Work) -> float:
    """For torch's operators."""
    return math.fsum(
        max(
            operator_times.elementwise(moved, calls, card),
            calls * operator_times.product(flops / max(1, calls), card)
            + operator_times.elementwise(0, calls, card),
        )
        for _, calls, moved, flops in ops
    )
