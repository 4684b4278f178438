"""Bounds on what a kernel does: one call is counted as Nsight Compute would, and compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.domain.part import Check
from grader.domain.verdict import Evidence, Finding, Status
from grader.protocol.messages import Launch

if TYPE_CHECKING:
    import numpy as np

    from grader.domain.task import Case
    from grader.referee.counting import Counted
    from grader.referee.parts.part_session import PartSession

    Draws = Callable[[np.random.Generator], tuple[Case, tuple[int, ...]]]

Launches = Sequence[Launch]


MOST_LINES = 3  # that are named together
A_BLOCK = "_a_block"
WHOLE = frozenset(("barriers", "tensor_operations", "flops"))  # of a launch: no line's part is known
WORDS = {"flops": "floating-point operations of threads"}


@dataclass(frozen=True, slots=True)
class Bound:
    """A ``limit`` of a metric in one call, all its launches added up: at most so much, or ``at_least``.

    ``metric`` is a space and direction (global or shared; load, store or atomic, all where none is named)
    and what is counted: requests, sectors, wavefronts or conflicts, for instance ``global_load_sectors``;
    or ``launches``, torch's operators that go over as much as the result among them; or ``barriers``: how
    often a block has met at one; or ``tensor_operations``: of tensor cores, where a product that is added
    is two; or ``flops``: those of threads, counted in the same way. With ``_a_block`` behind it, it is
    what a block of each launch does on average, rounded up. Atomic operations count as loads and stores
    too, and variables of the module as global memory: an access by another name costs what it costs.
    ``needs`` names another bound that must be held first, where a kernel that does not even try would
    hold this one.
    """

    name: str
    metric: str
    limit: int
    points: int
    why: str
    needs: str = ""
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Counters:
    """Calls the submission with ``case`` while the CPU back end counts. The result must be right as well.

    ``others`` draw cases of another size or entry, and what each bound is there: a kernel that is good at one
    size only is none. More than one where a way of its own is likely: short rows, long ones.
    """

    case: Case
    bounds: tuple[Bound, ...]
    others: tuple[Draws, ...] = ()

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

        grading = session.grading
        try:
            weigh = any(bound.metric == "launches" for bound in self.bounds)
            counted = counting.judged(grading, self.case, weigh=weigh)
            calls = [call.launches for call in counted]
            found = {bound.name: _held(bound, check, worst(bound, calls)) for bound, check in pairs}
            if beside := _beside(counted):
                found |= {
                    b.name: _not_alone(b, c, beside)
                    for b, c in pairs
                    if b.metric == "launches" and found[b.name].ok
                }
            for other in self.others:
                if not any(f.ok for f in found.values()):
                    break
                case, most = other(grading.rng)
                calls = [call.launches for call in counting.judged(grading, case)]
                for (bound, check), limit in zip(pairs, most, strict=True):
                    held = _held(replace(bound, limit=limit), check, worst(bound, calls), case.name)
                    if found[bound.name].ok and not held.ok:
                        found[bound.name] = held
        except FaultError as fault:
            yield from (session.fallen(check, fault) for _, check in pairs)
            return
        if any(f.kind == "unseen-access" for f in grading.record.memory):
            message = "Not counted: memory is read or written unseen by the checks, and so by the counters."
            yield from (check.failed(Status.TAMPERED, message) for _, check in pairs)
            return
        for bound, check in pairs:
            if bound.needs and not found[bound.needs].ok:
                message = f"Counts once {bound.needs!r} is right. {bound.why}"
                found[bound.name] = check.failed(Status.NOT_RUN, message)
        yield from found.values()


def total(metric: str, launches: Launches) -> int:
    """The sum of a metric over all launches of a call."""
    if metric == "launches":
        return len(launches)
    plain = metric.removesuffix(A_BLOCK)
    if plain != metric:
        return sum(-(-total(plain, [x]) // max(1, math.prod(x.grid))) for x in launches)
    counted = [x.counts for x in launches if x.counts]
    if metric in WHOLE:
        return sum(getattr(c, metric) for c in counted)
    where, what = metric.rsplit("_", 1)
    return sum(max(0, getattr(getattr(c, kind), what)) for c in counted for kind in _kinds(where))


def _beside(counted: Sequence[Counted]) -> tuple[str, ...]:
    """Operators of torch that moved at least as much as the result holds, in any of the calls."""
    names = [
        name
        for call in counted
        for name, _, moved, _ in call.work
        if moved >= max((math.prod(t.shape) for t in call.returned.tensors), default=0)
    ]
    return tuple(dict.fromkeys(names))


def _not_alone(bound: Bound, check: Check, beside: tuple[str, ...]) -> Finding:
    listed = ", ".join(f"`{name}`" for name in beside[:MOST_LINES])
    message = (
        f"Beside your kernel torch ran {listed}: a launch more, which goes over the whole matrix. {bound.why}"
    )
    return check.failed(Status.FAILED, message, operators=list(beside))


def _kinds(where: str) -> tuple[str, ...]:
    """All that is an access of this space and direction."""
    space, _, direction = where.partition("_")
    spaces = (space, "variable") if space == "global" else (space,)
    directions = (direction,) if direction else ("load", "store")
    return tuple(f"{one}_{how}" for one in spaces for how in dict.fromkeys((*directions, "atomic")))


def worst(bound: Bound, calls: Sequence[Launches]) -> Launches:
    """The call that is furthest from holding the bound: no other is better known for it."""
    return (min if bound.at_least else max)(calls, key=lambda launches: total(bound.metric, launches))


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


def _scattered(metric: str, limit: int, launches: Launches, place: tuple[int, int]) -> str:
    """Why a line's sectors are so many, where they are more than twice what its numbers fill.

    Not where side by side they would still fill more than the ``limit``: there fewer have to be asked for.
    """
    plain = metric.removesuffix(A_BLOCK)
    if not plain.endswith("_sectors"):
        return ""
    line, sectors = place
    least = _by_line(f"{plain.removesuffix('_sectors')}_least", launches)[line]
    if not least or sectors <= 2 * least or (plain == metric and least > limit):
        return ""
    return (
        f" Its numbers would fill {least:,}: threads whose threadIdx.x are neighbours do not read or write "
        "neighbouring numbers here, but for instance different rows."
    )


def _by_line(metric: str, launches: Launches) -> Counter[int]:
    """The part of each source line in a metric, as far as lines are known."""
    where, _, what = ("", "", "") if metric in WHOLE else metric.removesuffix(A_BLOCK).rpartition("_")
    kinds = _kinds(where) if where else ()
    lines: Counter[int] = Counter()
    for entry in (line for x in launches if x.counts for line in x.counts.lines):
        if entry.what in kinds:
            lines[entry.line] += (
                entry.wavefronts - entry.least if what == "conflicts" else getattr(entry, what)
            )
    return lines


def _held(bound: Bound, check: Check, launches: Launches, size: str = "") -> Finding:
    count, what = total(bound.metric, launches), WORDS.get(bound.metric, bound.metric.replace("_", " "))
    asked, key = ("needed", "at_least") if bound.at_least else ("allowed", "at_most")
    evidence: Evidence = {"metric": bound.metric, "count": count, key: bound.limit}
    if not launches:
        return check.failed(Status.FAILED, "No kernel of yours was launched: nothing to count.", **evidence)
    if count >= bound.limit if bound.at_least else count <= bound.limit:
        message = f"{bound.why} Counted {count:,} {what}, {asked} {bound.limit:,}."
        return check.passed(message, **evidence)
    where = f" for {size}" if size else ""
    message = f"Counted {count:,} {what}{where}, {asked} {bound.limit:,}. {bound.why}"
    if place := busiest(bound.metric, launches):
        message += _made_by(place, _by_line(bound.metric, launches))
        message += _scattered(bound.metric, bound.limit, launches, place)
        busy = max(launches, key=lambda x: total(bound.metric, [x]))
        evidence |= {"line": place[0], "of_this_line": place[1], "known": True}  # the cause is this line
        evidence["kernel"] = busy.kernel
    return check.failed(Status.FAILED, message, **evidence)
