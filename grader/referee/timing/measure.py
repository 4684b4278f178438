"""A race from the setup until the reference has run alone: then its ratio is believed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain import gpu_card, speed
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing import cross_check, race

if TYPE_CHECKING:
    from grader.domain.task import Case
    from grader.referee.session import Session
    from grader.referee.timing.race_result import RaceResult

# Faults by which a submission that was right until it was timed loses its points.
CAUGHT = (Status.TAMPERED, Status.WRONG_OUTPUT, Status.PRECISION, Status.NOT_FINITE)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was found, by how many processes, and the seconds that each stage took.

    A verdict has these stages as "speed: rounds" and so on. A stage whose name goes on after a comma is a
    part of the one before the comma; while pairs are started, the submission's calls are judged.
    """

    result: RaceResult
    processes: int
    stages: dict[str, float]


def measured(
    session: Session, case: Case, *, read_bytes: int = 0, flops: int = 0, baselines: tuple[str, ...] = (),
    copy_bytes: int = 0,
) -> Measurement:  # fmt: skip
    """Race a submission that was right with eager PyTorch and ``baselines``, and cross-check what it claims.

    The reference may have been slow for a reason of the machine's own, so if it was, all is raced once more.
    Afterwards none of the submission's processes is left.

    Args:
        session: The submission.
        case: The call.
        read_bytes: What a call must read from memory, at the least.
        flops: What it must multiply, at the least.
        baselines: Modes of torch.compile, or "solution", beside eager.
        copy_bytes: Of a device copy that runs beside; 0 for none.

    Raises:
        FaultError: ``tampered`` if the referee's clock, the card or the reference alone contradict what the
            submission's process claims, or with the status of a timed result that is wrong.
    """
    card = gpu_card.of_device(session.record.facts.device)
    for last in (False, True):
        try:
            one = race.set_up_race([session], case, baselines, copy_bytes)
        except race.SetUpError as error:
            raise error.fault from error
        one.run()
        result = one.result()
        if why := cross_check.too_fast(result.submission, card, read_bytes, flops):
            raise FaultError(Status.TAMPERED, why)
        begun, during = time.monotonic(), one.during
        after = one.reference_alone()
        stages = one.groups[0][0].stages | one.stages | {"alone": time.monotonic() - begun}
        why = cross_check.slowed(during, after)
        if not why:
            return Measurement(result, 2 * len(one.groups), stages)
        if last:
            raise FaultError(
                Status.TAMPERED, why, during=speed.as_json(during.times()), alone=speed.as_json(after.times())
            )
        one.close_new_pairs()
    raise AssertionError("the second race has ended the loop")
