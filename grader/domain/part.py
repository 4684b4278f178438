"""What a part of a task is: named checks with points, and a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from grader.domain.verdict import Finding, Status


@dataclass(frozen=True, slots=True)
class Check:
    """One finding that a part will make: its name, its points, and in a sentence what it is for.

    ``gpu``: only a GPU can show it; elsewhere it is ``pending_gpu``, and its points stay open. ``cpu``: only
    the CPU back end can; on a GPU it is asked beside (:mod:`grader.referee.cpu_environment`). ``clock``: it
    rests on the GPU's clock, so no other grading may use that GPU meanwhile.
    """

    name: str
    points: int
    why: str
    gpu: bool = False
    cpu: bool = False
    clock: bool = False

    def passed(self, message: str = "", **evidence: Any) -> Finding:
        """Full points."""
        return Finding(self.name, Status.PASSED, message or self.why, self.points, self.points, evidence)

    def failed(self, status: Status, message: str, **evidence: Any) -> Finding:
        """No points; ``message`` tells the student what happened and what to try."""
        return Finding(self.name, status, message, 0, self.points, evidence)


class Part(Protocol):
    """A piece of a task: a frozen dataclass that a lesson's ``task.py`` makes. It imports no torch.

    How it is judged is the referee's business: see :class:`grader.referee.parts.GradedPart`.
    """

    @property
    def checks(self) -> tuple[Check, ...]:
        """What will be judged, in order."""
