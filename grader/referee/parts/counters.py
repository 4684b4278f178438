"""Bounds on what a kernel does to memory: one call is counted as Nsight Compute would, and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.part import Check
from grader.domain.verdict import Evidence, Finding, Status
from grader.protocol.messages import Launch

if TYPE_CHECKING:
    from grader.domain.task import Case
    from grader.referee.parts.part_session import PartSession

Launches = Sequence[Launch]


MOST_LINES = 3  # that are named together


@dataclass(frozen=True, slots=True)
class Bound:
    """``at_most`` of a metric in one call, all its launches added up.

    ``metric`` is a space and direction (global or shared, load or store) and what is counted: requests,
    sectors, wavefronts or conflicts, for instance ``global_load_sectors``; or ``launches``. ``needs`` names
    another bound that must be held first, where a kernel that does not even try would hold this one.
    """

    name: str
    metric: str
    at_most: int
    points: int
    why: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Counters:
    """Calls the submission with ``case`` while the CPU back end counts. The result must be right as well."""

    case: Case
    bounds: tuple[Bound, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        """One for each bound."""
        return tuple(Check(b.name, b.points, b.why, cpu=True) for b in self.bounds)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """One finding for each bound; none is earned before the task's first case is right."""
        pairs = list(zip(self.bounds, self.checks, strict=True))
        cases = (
            session.grading.task.cases
        )  # a search for the cause asks for some checks only, maybe for no case
        if cases and not any(f.id == cases[0].name and f.ok for f in session.grading.record.findings):
            message = f"Not counted: the case {cases[0].name!r} must be right first."
            yield from (check.failed(Status.NOT_RUN, message) for _, check in pairs)
        else:
            yield from self._counted(session, pairs)

    def _counted(self, session: PartSession, pairs: list[tuple[Bound, Check]]) -> Iterator[Finding]:
        from grader.referee import counting
        from grader.referee.fault import FaultError

        try:
            calls = [call.launches for call in counting.judged(session.grading, self.case)]
        except FaultError as fault:
            yield from (session.fallen(check, fault) for _, check in pairs)
            return
        found = {bound.name: _held(bound, check, worst(bound.metric, calls)) for bound, check in pairs}
        for bound, check in pairs:
            if bound.needs and not found[bound.needs].ok:
                message = f"Counts once {bound.needs!r} is right. {bound.why}"
                found[bound.name] = check.failed(Status.NOT_RUN, message)
        yield from found.values()


def total(metric: str, launches: Launches) -> int:
    """The sum of a metric over all launches of a call."""
    if metric == "launches":
        return len(launches)
    where, what = metric.rsplit("_", 1)
    return sum(max(0, getattr(getattr(x.counts, where), what)) for x in launches if x.counts)


def worst(metric: str, calls: Sequence[Launches]) -> Launches:
    """The call with the highest count: no other is better known for it."""
    return max(calls, key=lambda launches: total(metric, launches))


def busiest(metric: str, launches: Launches) -> tuple[int, int] | None:
    """(line, count) of the source line with the largest part in a metric, if lines are known."""
    worst = max(_by_line(metric, launches).items(), key=lambda item: item[1], default=(0, 0))
    return worst if all(worst) else None


def _made_by(place: tuple[int, int], lines: Counter[int]) -> str:
    """Which line has the largest part, or which few have, where none has more than the others."""
    same = sorted(line for line, count in lines.items() if count == place[1] and line)
    if 1 < len(same) <= MOST_LINES:
        return f" Lines {', '.join(map(str, same[:-1]))} and {same[-1]} make {place[1]:,} of them each."
    return f" Line {place[0]} makes {place[1]:,} of them."


def _by_line(metric: str, launches: Launches) -> Counter[int]:
    """The part of each source line in a metric, as far as lines are known."""
    where, _, what = metric.rpartition("_")
    lines: Counter[int] = Counter()
    for entry in (line for x in launches if x.counts for line in x.counts.lines):
        if entry.what == where:
            lines[entry.line] += (
                entry.wavefronts - entry.least if what == "conflicts" else getattr(entry, what)
            )
    return lines


def _held(bound: Bound, check: Check, launches: Launches) -> Finding:
    count, what = total(bound.metric, launches), bound.metric.replace("_", " ")
    evidence: Evidence = {"metric": bound.metric, "count": count, "at_most": bound.at_most}
    if not launches:
        return check.failed(Status.FAILED, "No kernel of yours was launched: nothing to count.", **evidence)
    if count <= bound.at_most:
        message = f"{bound.why} Counted {count:,} {what}, allowed {bound.at_most:,}."
        return check.passed(message, **evidence)
    message = f"Counted {count:,} {what}, allowed {bound.at_most:,}. {bound.why}"
    if place := busiest(bound.metric, launches):
        message += _made_by(place, _by_line(bound.metric, launches))
        evidence |= {"line": place[0], "of_this_line": place[1], "known": True}  # the cause is this line
    return check.failed(Status.FAILED, message, **evidence)
