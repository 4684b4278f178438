"""Rows from the journal: what was handed in, joined with the last grading of each and the teacher's word."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from grader.domain.plural import plural
from grader.domain.verdict import SENTENCE, Status
from grader.reports.row import Check, Class, LessonFacts, Row, State, checks_of, state_of
from grader.teaching.batch import batch_plan, collector, late_policy, overrides, try_logs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.teaching.batch.batch_plan import Entry, Plan
    from grader.teaching.batch.journal import Line
    from grader.teaching.batch.overrides import Override
    from grader.teaching.batch.results_folder import ResultsFolder

EDITED = (
    "The kept verdict was changed by hand after it was graded; the points of the journal count. "
    "Use overrides.csv."
)


def best(lines: Iterable[Line]) -> dict[str, Line]:
    """The line that counts for each subject: the last from a GPU, else the last."""
    found: dict[str, Line] = {}
    for line in lines:
        before = found.get(line.subject)
        if before is None or line.backend == "cuda" or before.backend != "cuda":
            found[line.subject] = line
    return found


@collector.paused()
def collect(results: ResultsFolder) -> Class:
    """The whole result as it stands; gradings that are still to come are left out of it."""
    title, plan = batch_plan.read(results.plan)
    return collected(with_overrides(plan, results), title, best(results.lines()), results)


def with_overrides(plan: Plan, results: ResultsFolder) -> Plan:
    """The plan with what the teacher has decided; BadInputError if that speaks of somebody unknown."""
    path = results.root / overrides.NAME
    given = overrides.read(path, [x.name for x in plan.lessons])
    given.require_known(((e.student, e.lesson) for e in plan.entries), path)
    return replace(plan, overrides=given)


@collector.paused()
def collected(plan: Plan, title: str, lines: dict[str, Line], results: ResultsFolder | None = None) -> Class:
    """The class of a plan and the lines that count. With ``results`` kept verdicts are looked at, too."""
    facts = {x.name: x for x in plan.lessons}
    edited: dict[str, bool] = {}
    rows = []
    for entry in plan.entries:
        line = lines.get(entry.subject) if entry.subject else None
        if line or not entry.subject:
            made = row(entry, line, facts[entry.lesson], plan)
            if line and results:
                if line.key not in edited:
                    edited[line.key] = results.edited(line)
                made = replace(made, notes=(*made.notes, EDITED)) if edited[line.key] else made
            rows.append(made)
    devices = sorted({r.device for r in rows if r.device})
    known = {"devices": ", ".join(devices), "waiting": str(len(plan.entries) - len(rows))}
    if doubts := plan.overrides.doubts(rows):
        known["overrides"] = "\n".join(doubts)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    tries = try_logs.read(results, rows) if results else ()
    return Class(title, created, plan.lessons, tuple(rows), known, files=plan.files, tries=tries)


def row(entry: Entry, line: Line | None, lesson: LessonFacts, plan: Plan) -> Row:
    """One entry's row. ``line`` None: nothing was graded, and the entry says why."""
    said = plan.overrides.about(entry.student, entry.lesson)
    late, notes = _lateness(entry, plan, said)
    made = _graded(entry, line, plan) if line else _ungraded(entry, lesson, plan)
    made = replace(made, late=late, notes=(*made.notes, *notes))
    return _decided(made, plan, said)


def _graded(entry: Entry, line: Line, plan: Plan) -> Row:
    notes = entry.notes
    if line.disagrees:
        notes = (*notes, f"The GPU disagrees on: {', '.join(line.disagrees)}. The points are not changed.")
    state = state_of(line)
    first = line.first or (SENTENCE[Status.NOT_GRADABLE] if state == "not_gradable" else "")
    final = state == "graded" and (not line.open or "open" in plan.policy.final)
    return Row(
        entry.student, entry.lesson, state, line.status, line.earned, line.earned,
        line.max_points, 0, line.open, entry.name, entry.email, entry.section,
        checks_of(line), first, notes, 0.0, line.seconds, line.backend, line.device, line.speed,
        line.key, entry.file, entry.nick, final, entry.ids, mistake=line.mistake, taught=line.taught,
    )  # fmt: skip


def _ungraded(entry: Entry, lesson: LessonFacts, plan: Plan) -> Row:
    """The row of what was not graded: no file, one that is not a submission, or something to look at."""
    state: State = "unclear" if entry.unclear else "refused" if entry.refused else "missing"
    notes = (*entry.notes, entry.held) if entry.missing and entry.held else entry.notes
    return Row(
        entry.student, entry.lesson, state, Status.NOT_RUN, 0, 0, lesson.max_points, name=entry.name,
        email=entry.email, section=entry.section,
        checks=(Check("load", Status.NOT_RUN, 0, lesson.max_points),),
        first=entry.unclear or entry.refused or entry.missing, notes=notes, file=entry.file,
        nick=entry.nick, ids=entry.ids,
        final=state in plan.policy.final and not (entry.missing and entry.held),
    )  # fmt: skip


def _lateness(entry: Entry, plan: Plan, said: tuple[Override, ...]) -> tuple[float, tuple[str, ...]]:
    """Seconds late, an extension taken into account, and what there is to say of it."""
    policy, until, notes = plan.policy, plan.policy.due, []
    for one in said:
        if one.until is None and not one.more_s:
            continue
        until = (
            one.until if one.until is not None else None if policy.due is None else policy.due + one.more_s
        )
        moment = "" if until is None else f" until {datetime.fromtimestamp(until):%Y-%m-%d %H:%M}"
        notes.append(f"Extension{moment}" + (f" {one.signed}" if one.author or one.reason else "."))
    extended = bool(notes)
    seconds = replace(policy, due=until).seconds(entry.when, marked=entry.marked and not extended)
    if seconds <= 0:
        return 0.0, tuple(notes)
    if entry.when is None or until is None:
        return seconds, (*notes, "Late, as the platform marks it.")
    grace = ", within the grace" if seconds <= policy.grace else ""
    return seconds, (*notes, f"Late by {late_policy.words(seconds)}{grace}.")


def _decided(made: Row, plan: Plan, said: tuple[Override, ...]) -> Row:
    """The row after the late policy and what the teacher has decided by hand, every decision told."""
    told, earned, checks = [], made.earned, list(made.checks)
    for one in (x for x in said if x.check and x.points):
        for k, check in enumerate(checks):
            if check.id == one.check:
                points = one.changed(check.points)
                told.append(f"{check.id}: {plural(check.points, 'point')} became {points} {one.signed}")
                checks[k], earned = replace(check, points=points), earned + points - check.points
                break
    penalty = plan.policy.penalty(earned, made.late)
    points, final = earned - penalty, made.final
    notes = made.notes
    if penalty:
        notes = (*notes, f"Taken off for being late: {penalty} of {plural(earned, 'point')}.")
    for one in (x for x in said if x.points and not x.check):
        told.append(f"{plural(points, 'point')} became {one.changed(points)} {one.signed}")
        points, final = one.changed(points), True
    told += [f"Excused {one.signed}" for one in said if one.excuse]
    told += [
        f"Comment{' by ' + one.author if one.author else ''}: {one.comment}" for one in said if one.comment
    ]
    return replace(
        made, checks=tuple(checks), penalty=penalty, points=points, notes=notes, final=final,
        adjusted=points - (made.earned - penalty), excused=any(x.excuse for x in said), by_hand=tuple(told),
    )  # fmt: skip
