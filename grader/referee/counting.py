"""Counting runs of a submission that has passed: outside the cases, without points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.protocol import play
from grader.protocol.play import Returned, Work

if TYPE_CHECKING:
    from grader.domain.task import Case
    from grader.protocol.messages import Launch
    from grader.referee.session import Session

SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Counted:
    """One call: ``launches`` of the file's kernels, with what they moved; ``work`` of torch's operators."""

    launches: tuple[Launch, ...]
    work: Work
    returned: Returned


def count(session: Session, case: Case, *, weigh: bool = False) -> Counted:
    """Run ``case`` once with counting on. ``weigh``: count torch's operators as well."""
    prepare(session, case)
    return counted(session, play.Call(weigh=weigh))


def prepare(session: Session, case: Case) -> None:
    """Have the model of the case made, with new weights, and inputs drawn and handed over."""
    session.revive()
    problem = session.problem
    problem.construct(case)
    if problem.has_weights:
        problem.new_weights()
    problem.draw(case)
    problem.give(fresh=True)


def counted(session: Session, call: play.Call) -> Counted:
    """Make one call that was prepared, with counting on."""
    session.ask("count", on=True)
    try:
        returned = session.submission.ask(call, Returned, seconds=SECONDS)
        launches = session.launches
    finally:
        session.ask("count", on=False)
    return Counted(launches, returned.work, returned)
