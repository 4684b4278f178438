"""A race from the line-up until the last witness was heard: then its ratio is believed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain import gpu_card
from grader.domain.task import Case
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing import cross_check, race

if TYPE_CHECKING:
    from grader.referee.session import Session

# Faults by which a submission that was right until it was timed loses its points.
CAUGHT = (Status.TAMPERED, Status.WRONG_OUTPUT, Status.PRECISION, Status.NOT_FINITE)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found, by how many processes, and the seconds that each stage took."""

    heat: race.Heat
    processes: int
    stages: dict[str, float]


def measured(
    session: Session,
    case: Case,
    *,
    read_bytes: int = 0,
    flops: int = 0,
    baselines: tuple[str, ...] = (),
    copy: int = 0,
) -> Measured:
    """Race a submission that was right with eager PyTorch and ``baselines``, and hear all witnesses.

    ``read_bytes`` and ``flops``: what a call must read from memory, and multiply, at the least. ``copy``: see
    :func:`grader.referee.timing.setup.line_up`. Afterwards none of the submission's processes is left.

    Raises FaultError with ``tampered`` if the referee's clock, the card or the reference alone contradict
    what the submission's process claims, or with the status of a timed result that is wrong. The reference
    may have been slow for a reason of the machine's own, so if it was, all is raced once more.
    """
    card = gpu_card.of_device(session.record.facts.device)
    for last in (False, True):
        start = race.line_up(session, case, baselines, copy=copy)
        starts = race.more(case, start)
        begun = time.monotonic()
        heat = race.heat(session, *starts)
        stages = starts[0].stages | {"rounds": time.monotonic() - begun - heat.hearing, "rows": heat.hearing}
        if why := cross_check.too_fast(heat.own, card, read_bytes, flops):
            raise FaultError(Status.TAMPERED, why)
        begun = time.monotonic()
        during, after = starts[0].eager.blocks, race.alone(session, *starts)
        stages["alone"] = time.monotonic() - begun
        why = cross_check.slowed(during, after)
        if not why:
            return Measured(heat, 2 * len(starts), stages)
        if last:
            raise FaultError(Status.TAMPERED, why, during=during.as_json(), alone=after.as_json())
        if starts != [start]:
            for each in starts:
                each.session.close()
                each.session.oracle.player.stop()
    raise AssertionError("the second race has ended the loop")
