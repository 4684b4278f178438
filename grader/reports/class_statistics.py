"""What a class's rows say about the teaching: by check, by mistake, by section, over the term.

Every share names its denominator. A check counts for those who reached it: whoever's file did not load has
neither passed nor failed it, and whoever waits for a GPU neither.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import PENDING, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.reports.row import CheckTries, Class, LessonFacts, Row, Tries

NOT_REACHED = PENDING | {Status.NOT_RUN, Status.NOT_GRADABLE}
FEWEST = 10  # students who must have reached a check before its discrimination means anything


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """A check: of ``reached`` students ``failed`` did not pass it, ``usual`` is the status that most got.

    ``discrimination``: the correlation of passing it with the points of all other checks, or None where
    fewer than ``FEWEST`` reached it, or all did the same.
    """

    name: str
    reached: int
    failed: int
    usual: Status
    discrimination: float | None
    students: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake that the grader has explained, and whose it is; ``taught``: the lesson that explains it."""

    rule: str
    taught: str
    example: str
    students: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A section, or the whole class: ``graded`` of ``students``, and the mean share of the points.

    The share is of the ``counted`` rows: graded files, and rows that have points by the teacher's word.
    """

    name: str
    students: int
    graded: int
    passed: int
    share: float | None
    counted: int = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some numbers, and between what half of them lie."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CheckEffort:
    """A check in the students' own logs: ``failed`` of all logs have a try that did not pass it.

    ``tries`` that did not, and ``minutes`` for which it was the first to mend, are of those logs.
    """

    name: str
    failed: int
    tries: Spread
    minutes: Spread


@dataclass(frozen=True, slots=True)
class Effort:
    """What ``logs`` of students' own say of a lesson: claims, which nobody has checked."""

    logs: int
    tries: Spread
    minutes: Spread
    checks: tuple[CheckEffort, ...]


@dataclass(frozen=True, slots=True)
class LessonStatistics:
    """One lesson of a class."""

    facts: LessonFacts
    whole: Section
    checks: tuple[CheckFacts, ...]
    mistakes: tuple[Mistake, ...]
    sections: tuple[Section, ...]
    effort: Effort | None = None


def of_class(result: Class) -> tuple[LessonStatistics, ...]:
    """All lessons, in the order in which they were graded."""
    by_lesson: dict[str, list[Row]] = defaultdict(list)
    for row in result.rows:
        by_lesson[row.lesson].append(row)
    logged: dict[str, list[Tries]] = defaultdict(list)
    for one in result.tries:
        logged[one.lesson].append(one)
    return tuple(
        _lesson(facts, by_lesson[facts.name], effort(logged[facts.name])) for facts in result.lessons
    )


def effort(logged: list[Tries]) -> Effort | None:
    """Tries and minutes by the students' own logs of one lesson; the checks that cost most minutes first."""
    if not logged:
        return None
    by_check: dict[str, list[CheckTries]] = defaultdict(list)
    for one in logged:
        for check in one.checks:
            by_check[check.id].append(check)
    made = [
        CheckEffort(name, len(all_), _spread([c.tries for c in all_]), _spread([c.minutes for c in all_]))
        for name, all_ in by_check.items()
    ]
    made.sort(key=lambda c: (-c.minutes.median * c.failed, -c.failed, c.name))
    return Effort(
        len(logged), _spread([x.tries for x in logged]), _spread([x.minutes for x in logged]), tuple(made)
    )


def _spread(values: list[int] | list[float]) -> Spread:
    low, middle, high = statistics.quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return Spread(middle, low, high)


def _lesson(facts: LessonFacts, rows: list[Row], logged: Effort | None) -> LessonStatistics:
    graded = [row for row in rows if row.state == "graded"]
    sections: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        sections[row.section or "no section"].append(row)
    each = tuple(_section(name, sections[name]) for name in sorted(sections)) if len(sections) > 1 else ()
    return LessonStatistics(facts, _section("all", rows), checks(graded), _mistakes(graded), each, logged)


def checks(graded: Iterable[Row]) -> tuple[CheckFacts, ...]:
    """The checks that somebody reached, those that most failed first."""
    reached: dict[str, list[tuple[Row, bool, int]]] = defaultdict(list)
    bad: dict[str, list[tuple[Row, Status]]] = defaultdict(list)
    for row in graded:
        earned = sum(check.points for check in row.checks)
        for check in row.checks:
            if check.status in NOT_REACHED:
                continue
            right = check.status is Status.PASSED
            reached[check.id].append((row, right, earned - check.points))
            if not right:
                bad[check.id].append((row, check.status))
    made = []
    for name, tries in reached.items():
        failed = bad[name]
        usual = Counter(status for _, status in failed).most_common(1)[0][0] if failed else Status.PASSED
        relation = _correlation(
            [float(right) for _, right, _ in tries], [float(rest) for _, _, rest in tries]
        )
        students = tuple(row for row, _ in failed)
        made.append(CheckFacts(name, len(tries), len(failed), usual, relation, students))
    return tuple(sorted(made, key=lambda c: (-c.failed / c.reached, -c.failed, c.name)))


def _correlation(passed: list[float], rest: list[float]) -> float | None:
    if len(passed) < FEWEST or len(set(passed)) < 2 or len(set(rest)) < 2:
        return None
    return statistics.correlation(passed, rest)


def _mistakes(graded: Iterable[Row]) -> tuple[Mistake, ...]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in graded:
        if row.mistake:
            found[row.mistake].append(row)
    made = [Mistake(rule, rows[0].taught, rows[0].first, tuple(rows)) for rule, rows in found.items()]
    return tuple(sorted(made, key=lambda m: (-len(m.students), m.rule)))


def _section(name: str, rows: list[Row]) -> Section:
    graded = [row for row in rows if row.state == "graded"]
    shares = [row.points / row.max_points for row in rows if row.counted and row.max_points]
    mean = statistics.fmean(shares) if shares else None
    return Section(name, len(rows), len(graded), sum(row.passed for row in graded), mean, len(shares))
