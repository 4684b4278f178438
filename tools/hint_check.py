"""Are a lesson's hints whole? Each TODO has its own, and each check of the task stands at one of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.student.loop import hints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.lessons import Lesson

LEVELS = ("Idea", "Place", "Shape")
ANYWHERE = ("load", "streams", "memory")  # what every verdict may tell of, with points or without


def problems(lesson: Lesson) -> Iterator[str]:
    """A sentence for each thing that is wrong."""
    page = (lesson.folder / "hints.md").read_text("utf-8")
    every = hints.parse(page)
    todos = [int(n) for n in re.findall(r"TODO (\d+)", lesson.exercise.read_text("utf-8"))]
    if (found := [one.todo for one in every]) != sorted(set(todos)):
        yield (
            "hints.md must have a section '## TODO n: a few words' for each of the TODOs "
            f"{sorted(set(todos))}, in their order; it has {found}."
        )
    for one in every:
        if tuple(heading for heading, _ in one.levels) != LEVELS:
            yield f"hints.md: TODO {one.todo} must have three levels, '### Idea', '### Place', '### Shape'."
        for heading in (heading for heading, text in one.levels if not text):
            yield f"hints.md: the level {heading} of TODO {one.todo} is empty."
    named = [check for one in every for check in one.checks]
    known = lesson.task.check_names
    for name in dict.fromkeys(named):
        if name not in known and name not in ANYWHERE:
            yield f"hints.md names the check {name!r}; the task has {', '.join(known)}."
        elif named.count(name) > 1:
            yield f"hints.md names the check {name!r} {named.count(name)} times, not once."
    if lacking := [name for name in known if name not in named]:
        yield f"hints.md names no TODO for {', '.join(lacking)}: add them to a <!-- checks: ... -->."
