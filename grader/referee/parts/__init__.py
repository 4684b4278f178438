"""Kinds of grading besides "call it and compare with a reference": one file a kind.

A task lists them as ``parts``. A part runs on the referee's side: it draws what is secret, asks the
submission's player for plain data, and judges the answers. What a submission needs while it runs (a clock, a
memory, a kernel to test) stays with the referee too; the player has a stand-in that asks for each use.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from grader.domain.part import Check, Part
from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError
from grader.referee.parts.part_session import PartSession

if TYPE_CHECKING:  # tasks import this, and a list of lessons needs no processes
    from collections.abc import Iterable

    from grader.referee.session import Session

__all__ = ["Check", "GradedPart", "Part", "PartSession", "judge", "not_run"]


@runtime_checkable
class GradedPart(Part, Protocol):
    """A part, and how it is judged."""

    def judge(self, session: PartSession) -> Iterable[Finding]:
        """One finding for each check, in order. A FaultError ends the whole part."""


def judge(part: Part, session: Session, *, loaded: bool) -> list[Finding]:
    """The findings of a part, one for each of its checks, in order."""
    if not loaded:
        return not_run(part)
    if session.on_cpu and any(check.cpu for check in part.checks):
        return _elsewhere(part, session.on_cpu())
    assert isinstance(part, GradedPart), f"{type(part).__name__} has no judge()"
    clocked = any(check.clock for check in part.checks)
    try:
        with session.clock() if clocked else contextlib.nullcontext():
            findings = list(part.judge(PartSession(session)))
    except FaultError as fault:  # no player can be had any more: the submission has died too often
        return [fault.finding(c.name, c.points) for c in part.checks]
    declared = [(c.name, c.points) for c in part.checks]
    assert [(f.id, f.max_points) for f in findings] == declared, "a part judges exactly what it declares"
    return findings


def not_run(part: Part) -> list[Finding]:
    """A part's findings when the submission cannot even be loaded."""
    return [Finding(c.name, Status.NOT_RUN, c.why, 0, c.points) for c in part.checks]


def _elsewhere(part: Part, found: dict[str, Finding] | str) -> list[Finding]:
    """The findings that the CPU back end made beside a GPU; open, with the reason, where there are none."""
    if isinstance(found, str):
        return [c.failed(Status.PENDING_CPU, found) for c in part.checks]
    lost = "The CPU back end beside this one made no such check."
    return [found.get(c.name) or c.failed(Status.PENDING_CPU, lost) for c in part.checks]
