"""``course dev variant``: draw a term's variant of a lesson, and try what must pass and what must fail."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.teaching.exam import sheet
from tools import lesson_check, mutants

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.domain.lessons import Lesson
    from grader.teaching.exam.draws import Draws

FEWEST = 8


def problems(number: str, draws: Draws, out: Path, say: Callable[[str], None]) -> list[str]:
    """Write the variant below ``out``, grade key, starter and mutants; what is wrong, a sentence each."""
    lesson = sheet.write(number, draws, out).lesson
    found = list(mutants.problems(lesson, FEWEST))
    tries: list[tuple[str, Callable[[], list[str]]]] = [
        ("the key", partial(lesson_check.correct, lesson, lesson.solution)),
        ("the starter", partial(_starter, lesson)),
    ]
    tries += [
        (f"mutant {m.name!r}", partial(lesson_check.version, lesson, m)) for m in mutants.declared(lesson)
    ]
    for what, made in tries:
        wrong = made()
        say(f"{what}: {'; '.join(wrong) or 'as it should be'}")
        found += wrong
    return found


def _starter(lesson: Lesson) -> list[str]:
    got = lesson_check.verdict(lesson, lesson.exercise)
    first = next((f.id for f in got.findings if not f.ok and f.status is not Status.NOT_RUN), "")
    if first != lesson.task.starter_fails or 2 * got.points > got.max_points:
        return [f"the starter fails first at {first!r} and has {got.points} of {got.max_points} points."]
    return []
