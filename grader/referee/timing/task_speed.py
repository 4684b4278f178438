"""A passed submission's speed: measured where there is a GPU, else predicted from what was counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain import gpu_card
from grader.domain.speed import Measured, NoSpeed, Predicted, Speed
from grader.referee import counting
from grader.referee.fault import FaultError
from grader.referee.predict import call, operator_times
from grader.referee.timing.measure import CAUGHT, measured

if TYPE_CHECKING:
    from grader.domain.task import Task
    from grader.referee.session import Session

BASELINES = ("default", "max-autotune", "solution")  # modes of torch.compile, and the course's own


def speed_of(
    session: Session, task: Task, backend: str, baselines: tuple[str, ...] = (), card: str = gpu_card.DEFAULT
) -> Speed | None:
    """The verdict's speed, or None when there is nothing to say.

    ``baselines``: modes of torch.compile to race beside eager. ``card``: what to predict for. A submission
    that is caught cheating the clock, or whose timed results are wrong, raises FaultError; other troubles are
    its ``why``.
    """
    try:
        return _measured(session, task, baselines) if backend == "cuda" else _predicted(session, task, card)
    except FaultError as fault:
        if fault.status in CAUGHT or isinstance(fault, counting.CountedWronglyError):
            raise
        return NoSpeed(fault.message)


def _predicted(session: Session, task: Task, card_name: str) -> Predicted | NoSpeed | None:
    """From what simt counts of a call at a small size, grown to the full one."""
    assert task.speed is not None
    card, about = gpu_card.card(card_name), task.speed
    calls = [c for c in counting.judged(session, about.case) if c.moved_bytes]
    if not calls:
        return None
    scale = about.fused_bytes / about.case_bytes
    every = [call.predicted(c.launches, card, scale) for c in calls]
    for counted, one in zip(calls, every, strict=True):
        if one.why_not:
            offer = call.offer(counted.launches, scale)
            return NoSpeed(f"no prediction for {card.name}: {one.why_not}.{offer}")
    own, counted = max(zip(every, calls, strict=True), key=lambda one: one[0].seconds)
    eager = operator_times.elementwise(about.eager_bytes, about.eager_launches, card, about.broadcast)
    gemm = operator_times.product(about.flops, card)
    return Predicted(
        device=card.name,
        method=call.METHOD,
        counted_bytes=counted.moved_bytes,
        launches=len(counted.launches),
        kernel_seconds=own.seconds,
        eager_kernel_seconds=eager,
        product_seconds=gemm,
        kernel_ratio=eager / own.seconds,
        whole_ratio=(eager + gemm) / (own.seconds + gemm),
        limits=list(own.limits),
    )


METHOD = (
    "blocks of calls in turns A B B A in pairs of processes on one GPU; cold cache; CUDA events against the "
    "referee's wall clock, also of calls in rows; every timed result compared; 95 % studentised bootstrap "
    "over pairs of blocks"
)


def _measured(session: Session, task: Task, baselines: tuple[str, ...]) -> Measured:
    """Submission and baselines in turns on the same GPU, then the reference alone."""
    about = task.speed
    assert about is not None
    half = about.fused_bytes // 2
    found = measured(
        session, about.full, read_bytes=half, flops=about.flops, baselines=baselines, copy_bytes=half
    )
    session.record.stages |= {f"speed: {stage}": seconds for stage, seconds in found.stages.items()}
    return found.result.speed(session.record.facts.device, METHOD, found.processes)
