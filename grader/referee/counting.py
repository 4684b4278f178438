"""Counted calls of a submission, judged like the calls of a case: to recognise one gains nothing.

What is claimed of a submission comes from the worst of several calls in a drawn order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.feedback import memory
from grader.protocol import play
from grader.protocol.play import Returned, Work
from grader.referee import rounds
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.domain.task import Case
    from grader.domain.verdict import Finding
    from grader.protocol.messages import Launch, MemoryFinding
    from grader.referee.session import Session

SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Counted:
    """One call: ``launches`` of the file's kernels, with what they moved; ``work`` of torch's operators."""

    launches: tuple[Launch, ...]
    work: Work
    returned: Returned

    @property
    def moved_bytes(self) -> int:
        """Bytes of device memory that its kernels moved."""
        return sum(launch.counts.moved_bytes for launch in self.launches if launch.counts)


class CountedWronglyError(FaultError):
    """A call that was counted is not as the calls of the cases were."""


def judged(session: Session, case: Case, *, weigh: bool = False) -> list[Counted]:
    """Counted calls of ``case``: each is watched and compared, and its threads' accesses are checked.

    Raises:
        CountedWronglyError: One of them is not right.
    """
    session.revive()
    session.begin(case)
    found: list[Counted] = []

    def made(returned: Returned) -> None:
        found.append(Counted(session.launches, returned.work, returned))

    planned = [rounds.FIRST, rounds.REFILL, rounds.FIRST][: 2 + int(session.rng.integers(2))]
    seen = session.record.memory
    before = len(seen)
    with session.counting():
        calls = Calls(session, case, weigh=weigh, seconds=SECONDS, made=made)
        failed = calls.play((one, True) for one in planned)
    if failed or memory.errors(seen[before:]):
        raise _wrong(failed, memory.errors(seen[before:]))
    return found


def _wrong(failed: Finding | None, seen: list[MemoryFinding]) -> CountedWronglyError:
    if failed:
        return CountedWronglyError(failed.status, f"The counted call: {failed.message}", **failed.evidence)
    status, text = memory.told(seen)
    return CountedWronglyError(status, f"The counted call: {text}")


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
    with session.counting():
        returned = session.submission.ask(call, Returned, seconds=SECONDS)
        launches = session.launches
    return Counted(launches, returned.work, returned)
