"""Open-ended points: how many times as fast as the reference on a GPU. Without one they stay open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.part import Check
from grader.domain.speed import as_json
from grader.domain.verdict import Finding, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.task import Case
    from grader.referee.parts.part_session import PartSession
    from grader.referee.timing.measure import Measurement


@dataclass(frozen=True, slots=True)
class Ratio:
    """A point for each step that the whole interval of the ratio reaches, if all cases are right.

    ``read_bytes`` and ``flops``: what a call must read from memory, and multiply, at the least.
    """

    case: Case
    steps: tuple[float, ...]
    why: str
    read_bytes: int = 0
    flops: int = 0

    @property
    def checks(self) -> tuple[Check, ...]:
        """One: the ratio."""
        return (Check("ratio", len(self.steps), self.why, gpu=True, clock=True),)

    def judge(self, room: PartSession) -> Iterator[Finding]:
        """Time submission and reference A B B A on fresh inputs."""
        from grader.referee.fault import FaultError
        from grader.referee.timing.measure import CAUGHT, measured

        (check,) = self.checks
        cases = {c.name for c in room.grading.task.cases}
        if not all(f.ok for f in room.grading.record.findings if f.id in cases):
            yield check.failed(Status.NOT_RUN, "Not timed: every case must be right first.")
            return
        if room.backend != "cuda":
            yield check.failed(Status.PENDING_GPU, f"{self.why} Only a GPU's clock can tell.")
            return
        try:
            done = measured(room.grading, self.case, read_bytes=self.read_bytes, flops=self.flops)
        except FaultError as fault:
            if fault.status in CAUGHT:
                room.grading.forfeit()
            yield room.fallen(check, fault)
            return
        yield self._finding(check, done)

    def _finding(self, check: Check, done: Measurement) -> Finding:
        """Points for the steps that the whole interval reaches; the evidence is that of a verdict's speed."""
        found = done.result.against()
        points = sum(found.beyond(step) for step in self.steps)
        later = [s for s in self.steps if not found.beyond(s)]
        message = f"{found.ratio:.2f} times as fast as the reference ({found.low:.2f} to {found.high:.2f})."
        if not found.clear:
            message = done.result.why
        elif later:
            message += f" The next point needs all of the interval at {later[0]} or above."
        speed = as_json(done.result.speed("", "", done.processes))
        kept = ("interval", "outcome", "seconds", "rounds", "compared", "processes", "eager_seconds")
        evidence = {"ratio": found.ratio} | {name: speed[name] for name in kept}
        status = Status.PASSED if points else Status.FAILED
        return Finding(check.name, status, message, points, check.points, evidence)
