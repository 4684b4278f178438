"""What an earlier run has left in the same folder of results: its rows are kept, and it is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.domain.plural import plural
from grader.teaching.batch import batch_plan

if TYPE_CHECKING:
    from grader.teaching.batch.batch_plan import Plan
    from grader.teaching.batch.results_folder import ResultsFolder

NOTE = "Kept from an earlier run: nothing for it lies in the submissions of the last one."


def kept(made: Plan, title: str, results: ResultsFolder) -> tuple[Plan, list[str]]:
    """The plan with the rows that only an earlier run into this folder has, and a sentence about them.

    Those are rows of lessons that are not asked for now, and of students of whom nothing lies there now.
    Rows of an earlier run in which nothing was handed in are kept for other lessons only. BadInputError
    where rows would be kept that had other dates: a folder of results has one policy.
    """
    if not results.plan.exists():
        return made, []
    before, earlier = batch_plan.read(results.plan)
    now = {x.name for x in made.lessons}
    there = {(e.student, e.lesson): e for e in made.entries}
    rows = []
    for old in earlier.entries:
        new = there.get((old.student, old.lesson))
        gone = new is None or (bool(new.missing) and bool(old.subject))
        if gone and (old.lesson not in now or not old.missing):
            rows.append(old)
    if not rows:
        return made, []
    if earlier.policy != made.policy:
        raise BadInputError(
            f"{results.root} holds {plural(len(rows), 'row')} of an earlier run that these submissions "
            "have nothing for, graded with other dates; such a folder has one --due and --late. "
            "Name another --out."
        )
    places = {(e.student, e.lesson) for e in rows}
    others = [e for e in made.entries if (e.student, e.lesson) not in places]
    marked = [
        replace(e, notes=(*(n for n in e.notes if n != NOTE), NOTE)) if e.lesson in now else e for e in rows
    ]
    facts = {x.name: x for x in (*earlier.lessons, *made.lessons)}
    files = {(f.file, f.lesson): f for f in (*earlier.files, *made.files)} if before != title else {}
    whole = replace(
        made,
        entries=tuple(sorted((*others, *marked), key=lambda e: (e.lesson, e.student))),
        lessons=tuple(facts[name] for name in sorted(facts)),
        files=tuple(files.values()) or made.files,
    )
    names = ", ".join(sorted({e.student for e in rows})[:4])
    names += " and others" if len({e.student for e in rows}) > 4 else ""
    kept = f"The results keep {plural(len(rows), 'row')} of an earlier run into {results.root}, of {names}: "
    return whole, [f"{kept}these submissions have nothing for them. To be without them, name another --out."]
