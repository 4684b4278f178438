"""Properties of an operator that PyTorch's own checkers can try out: opcheck, gradcheck, compile, autocast.

The checkers run in the submission's process, so what they answer is a claim; results of plain calls, which
the referee compares itself, are a task's cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.parts.part_session import PartSession


@dataclass(frozen=True, slots=True)
class Property:
    """One check of PyTorch (see ``player/commands/operator_check.py``). ``gpu``: a CPU cannot show it.

    ``before``: the checker of what the CPU back end can show of it all the same. Who fails that has failed.
    """

    name: str
    checker: str
    points: int
    why: str
    gpu: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator ``entry`` of the submission, called with a tensor and a number, has ``properties``."""

    entry: str
    properties: tuple[Property, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        """One for each property."""
        return tuple(Check(p.name, p.points, p.why, p.gpu) for p in self.properties)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Try each property with a factor that nobody knows beforehand."""
        cases = session.grading.task.cases  # a search for the cause asks for some checks, maybe for no case
        first = cases[0].name if cases else ""
        right = not cases or any(f.id == first and f.ok for f in session.grading.record.findings)
        for wanted, check in zip(self.properties, self.checks, strict=True):
            if not right:
                yield check.failed(Status.NOT_RUN, f"Not tried: the case {first!r} must be right first.")
            elif wanted.gpu and session.backend != "cuda":
                tried = self._try(session, wanted.before, check) if wanted.before else check.passed()
                pending = check.failed(Status.PENDING_GPU, f"{wanted.why} Only a GPU can show it.")
                yield pending if tried.ok else tried
            else:
                yield self._try(session, wanted.checker, check)

    def _try(self, session: PartSession, checker: str, check: Check) -> Finding:
        from grader.feedback import memory
        from grader.referee.fault import FaultError

        scale = float(session.rng.uniform(0.5, 3.0))
        try:
            wrong = session.command("operator_check", entry=self.entry, check=checker, scale=scale).get(
                "wrong"
            )
        except FaultError as fault:
            seen = memory.errors(fault.seen)
            fault.message += f"\n{memory.told(seen)[1]}" if seen else ""
            return session.fallen(check, fault)
        if wrong == "":
            return check.passed()
        return check.failed(Status.FAILED, f"{str(wrong)[:900].rstrip('. ')}. {check.why}")
