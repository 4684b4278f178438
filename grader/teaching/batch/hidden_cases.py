"""Before a class is graded: hidden cases are read, and each task is tried on what must pass and fail.

A mistake in a task would cost every student points, and nobody would see it in a single verdict. So the
solution must pass and the starter must fail first, here and on these machines; what was tried is remembered.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain import cache, disk, lessons, submission
from grader.domain.errors import BadInputError
from grader.domain.plural import plural
from grader.domain.verdict import Status
from grader.teaching.batch import batch_work, grading_key, scheduler
from grader.teaching.batch.batch_work import Order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.domain.lessons import Lesson
    from grader.domain.verdict import Verdict
    from grader.teaching.batch.batch_plan import Settings
    from grader.teaching.batch.machines import Machines
    from grader.teaching.batch.scheduler import Answer

SOLUTION, STARTER = "solution", "starter"


def texts(given: Path | None, wanted: list[Lesson]) -> dict[str, str]:
    """Texts of hidden cases by lesson: a file for one lesson, or a folder with one for each that has some."""
    if given is None:
        return {}
    if given.is_file() and len(wanted) == 1:
        return {wanted[0].name: _text(wanted[0], given)}
    if not given.is_dir():
        raise BadInputError(f"{given} is not a folder of hidden cases; it holds 07.py, 08.py and so on.")
    found = {}
    for lesson in wanted:
        places = (f"{lesson.number}.py", f"{lesson.name}.py", f"{lesson.name}/hidden.py")
        for path in (given / place for place in places):
            if path.is_file():
                found[lesson.name] = _text(lesson, path)
    return found


def _text(lesson: Lesson, path: Path) -> str:
    """The file's text, after its mistakes were told: now, and not in each grading."""
    cases = lesson.task.cases
    for case in lessons.with_hidden(lesson.task, path).cases[len(cases) :]:
        own = [c for c in cases if c.entry == case.entry]
        if own and all(c.init for c in own) and not case.init:
            raise BadInputError(
                f"{path}: case {case.name!r} has no init, which {lesson.task.entry} of lesson "
                f"{lesson.number} is made with; the lesson's case {own[0].name!r} has init={own[0].init!r}."
            )
    return path.read_text("utf-8")


def require_tried(
    wanted: list[Lesson], settings: Settings, machines: Machines, say: Callable[[str], None]
) -> None:
    """BadInputError unless every task lets its solution pass and its starter fail, with these options."""
    orders = {order.key: (order, lesson, what) for order, lesson, what in _orders(wanted, settings)}
    if not orders:
        return
    tried = plural(len(orders), "solution or starter", "solutions and starters")
    say(f"Trying {tried} first: the solution must pass, the starter must fail.")
    trouble: list[str] = []

    def done(answer: Answer) -> None:
        _, lesson, what = orders[answer.order.key]
        said = batch_work.read_answer(answer.text)
        verdict = said.verdict or batch_work.ungraded(
            lesson, settings.options.backend, answer.reason or said.error
        )
        if why := _wrong(verdict, what):
            trouble.append(f"Lesson {lesson.number}: {why}")
        else:
            disk.write(_remembered(answer.order.key), json.dumps({"lesson": lesson.name, "what": what}))

    scheduler.Engine(machines).run((order for order, _, _ in orders.values()), done)
    if trouble:
        raise BadInputError(
            " ".join([*sorted(trouble), "Nobody was graded. Mend the task or the hidden cases first."])
        )


def _orders(wanted: list[Lesson], settings: Settings) -> list[tuple[Order, Lesson, str]]:
    made = []
    for lesson in wanted:
        hidden = settings.hidden.get(lesson.name, "")
        for what, path in ((SOLUTION, lesson.solution), (STARTER, lesson.exercise)):
            if not path.exists():
                continue
            given = submission.read(path)
            options = replace(settings.options, student="")
            key, parts = grading_key.made(lesson, given.digest, settings.device, options, hidden)
            if not _remembered(key).exists():
                order = Order(key, lesson.name, parts["task"], given.source, options, hidden, settings.arch)
                made.append((order, lesson, what))
    return made


def _remembered(key: str) -> Path:
    return cache.cache_folder() / "batch" / "tried" / f"{key}.json"


def _wrong(verdict: Verdict, what: str) -> str:
    """What is wrong with the verdict on the solution or on the starter, or ""."""
    if what == STARTER:
        return (
            "the starter passes, so that whoever hands in nothing of their own would pass."
            if verdict.ok
            else ""
        )
    faults = [f for f in verdict.findings if f.status is Status.NOT_GRADABLE]
    if verdict.ok and not faults:
        return ""
    first = (faults or verdict.failed or [verdict.findings[0]])[0]
    return f"the solution gets {first.status} at the check {first.id!r}. {first.message}".strip()
