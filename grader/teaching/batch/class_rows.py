"""Rows from the journal: what was handed in, joined with the last grading of each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from grader.domain.verdict import SENTENCE, Status
from grader.reports.row import Check, Class, LessonFacts, Row, State, checks_of, state_of
from grader.teaching.batch import batch_plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.teaching.batch.batch_plan import Entry, Plan
    from grader.teaching.batch.journal import Line
    from grader.teaching.batch.results_folder import ResultsFolder


def best(lines: Iterable[Line]) -> dict[str, Line]:
    """The line that counts for each subject: the last from a GPU, else the last."""
    found: dict[str, Line] = {}
    for line in lines:
        before = found.get(line.subject)
        if before is None or line.backend == "cuda" or before.backend != "cuda":
            found[line.subject] = line
    return found


def collect(results: ResultsFolder) -> Class:
    """The whole result as it stands; gradings that are still to come are left out of it."""
    title, plan = batch_plan.read(results.plan)
    return collected(plan, title, best(results.lines()))


def collected(plan: Plan, title: str, lines: dict[str, Line]) -> Class:
    """The class of a plan and the lines that count."""
    facts = {x.name: x for x in plan.lessons}
    rows = []
    for entry in plan.entries:
        line = lines.get(entry.subject) if entry.subject else None
        if line or not entry.subject:
            rows.append(row(entry, line, facts[entry.lesson], plan))
    devices = sorted({r.device for r in rows if r.device})
    known = {"devices": ", ".join(devices), "waiting": str(len(plan.entries) - len(rows))}
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Class(title, created, plan.lessons, tuple(rows), known)


def row(entry: Entry, line: Line | None, lesson: LessonFacts, plan: Plan) -> Row:
    """One entry's row. ``line`` None: nothing was graded, and the entry says why."""
    if line is None:
        return _ungraded(entry, lesson)
    penalty = plan.policy.penalty(line.earned, entry.late)
    notes = entry.notes
    if penalty:
        notes = (*notes, f"{penalty} of {line.earned} points were taken off for being late.")
    if line.disagrees:
        notes = (*notes, f"The GPU judges otherwise: {', '.join(line.disagrees)}. The points stay.")
    state = state_of(line.status)
    first = line.first or (SENTENCE[Status.NOT_GRADABLE] if state == "not_gradable" else "")
    return Row(
        entry.student, entry.lesson, state, line.status, line.earned - penalty, line.earned,
        line.max_points, penalty, line.open, entry.name, entry.email, entry.section,
        checks_of(line), first, notes, entry.late, line.seconds, line.backend, line.device, line.speed,
        line.key, entry.file, entry.nick,
    )  # fmt: skip


def _ungraded(entry: Entry, lesson: LessonFacts) -> Row:
    """The row of what was not graded: no file, or one that is not a submission."""
    state: State = "missing" if entry.missing else "refused"
    status = Status.NOT_RUN if entry.missing else Status.IMPORT_ERROR
    return Row(
        entry.student, entry.lesson, state, status, 0, 0, lesson.max_points, name=entry.name,
        email=entry.email, section=entry.section, checks=(Check("load", status, 0, lesson.max_points),),
        first=entry.missing or entry.refused, notes=entry.notes, late=entry.late, file=entry.file,
        nick=entry.nick,
    )  # fmt: skip
