"""Open-ended points: how many times as fast as the reference on a GPU. Without one they stay open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from grader.kinds.part import Check
from grader.task import Case
from grader.verdict import Finding, Status

if TYPE_CHECKING:
    from grader.kinds.room import Room


@dataclass(frozen=True, slots=True)
class Ratio:
    """A point for each step that the ratio of medians of ``case`` reaches, if all cases are right."""

    case: Case
    steps: tuple[float, ...]
    why: str

    @property
    def checks(self) -> tuple[Check, ...]:
        """One: the ratio."""
        return (Check("ratio", len(self.steps), self.why, gpu=True),)

    def judge(self, room: Room) -> Iterator[Finding]:
        """Time submission and reference A B B A on fresh inputs."""
        from grader.referee import timing
        from grader.referee.fault import FaultError

        (check,) = self.checks
        cases = {c.name for c in room.match.task.cases}
        if not all(f.ok for f in room.match.record.findings if f.id in cases):
            yield check.failed(Status.NOT_RUN, "Not timed: every case must be right first.")
            return
        if room.backend != "cuda":
            yield check.failed(Status.PENDING_GPU, f"{self.why} Only a GPU's clock can tell.")
            return
        try:
            own, eager = timing.race(room.match, self.case)
        except FaultError as fault:
            yield room.fallen(check, fault)
            return
        if not own or not eager:
            yield check.failed(Status.TAMPERED, "The submission's process gave no times.")
            return
        ratio = median(eager) / median(own)
        points = sum(ratio >= step for step in self.steps)
        later = [s for s in self.steps if ratio < s]
        message = f"{ratio:.2f} times as fast as the reference." + (f" Next at {later[0]}." if later else "")
        evidence = {"ratio": ratio, "seconds": median(own), "eager_seconds": median(eager), "calls": len(own)}
        status = Status.PASSED if points else Status.FAILED
        yield Finding(check.name, status, message, points, check.points, evidence)
