"""A lesson's hints: for each TODO of its starter three levels, the idea, the place, the shape of the code.

``hints.md`` has a section ``## TODO 3: the launch`` for each, below it which checks fail as long as it is not
done, ``<!-- checks: transposed, every other -->`` (with semicolons where a name has a comma), and the levels
as ``### Idea`` and so on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain import workspace
from grader.domain.errors import BadInputError
from grader.student import progress

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson
    from grader.domain.verdict import Verdict
    from grader.feedback.look import Advice

SECTION = re.compile(r"^## TODO (?P<todo>\d+): *(?P<title>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.M)
CHECKS = re.compile(r"^<!-- checks: (?P<names>.*?) -->\n?", re.M | re.S)
LEVEL = re.compile(r"^### +(.+)$", re.M)
TODO = re.compile(r"\bTODO (\d+)")
MARK = re.compile(r"A TODO is still here\. Do this first: TODO (\d+)")


@dataclass(frozen=True, slots=True)
class Hints:
    """Those of one TODO. ``checks`` fail without it; ``levels`` are (heading, text), the vague ones first."""

    todo: int
    title: str
    checks: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """One level of a TODO's hints; ``last``: there is no further one."""

    about: str
    level: int
    heading: str
    text: str
    last: bool


def parse(page: str) -> list[Hints]:
    """The hints of a ``hints.md``, in its order."""
    return [_section(match["todo"], match["title"], match["body"]) for match in SECTION.finditer(page)]


def read(lesson: Lesson) -> list[Hints]:
    """A lesson's hints."""
    return parse((lesson.folder / "hints.md").read_text(encoding="utf-8"))


def due(lesson: Lesson, every: list[Hints]) -> Hints:
    """Those that help most now: of the first check that failed last, or of the first TODO that is left."""
    # Trouble with memory explains what else failed, and what to write first is said by that.
    for check in sorted(progress.read().open_checks.get(lesson.name, ()), key=lambda name: name == "memory"):
        if found := next((one for one in every if check in one.checks), None):
            return found
    mine = workspace.place(lesson)
    text = mine.read_text("utf-8", errors="replace") if mine.is_file() else ""
    left = {int(number) for number in TODO.findall(text)}
    return next((one for one in every if one.todo in left), every[0])


def fitting(lesson: Lesson, verdict: Verdict, advice: list[Advice]) -> list[Advice]:
    """The advice without a TODO of a later step than that of the first check that failed."""
    if not verdict.failed or not (lesson.folder / "hints.md").is_file():
        return advice
    step = next((one.todo for one in read(lesson) if verdict.failed[0].id in one.checks), None)
    return [
        one for one in advice if step is None or not (mark := MARK.match(one.message)) or int(mark[1]) <= step
    ]


def take(lesson: Lesson, todo: int | None = None, level: int | None = None) -> Opened:
    """Open a hint and remember it: the next one of the TODO that is due, unless the arguments say which.

    After the last level of a TODO it stays there. BadInputError for a TODO or level that there is not.
    """
    every = read(lesson)
    chosen = due(lesson, every) if todo is None else next((one for one in every if one.todo == todo), None)
    if chosen is None:
        known = ", ".join(str(one.todo) for one in every)
        raise BadInputError(f"Lesson {lesson.number} has hints on TODO {known}, not on {todo}.")
    last = len(chosen.levels)
    level = level or min(progress.read().opened.get((lesson.name, chosen.todo), 0) + 1, last)
    if not 1 <= level <= last:
        raise BadInputError(
            f"TODO {chosen.todo} of lesson {lesson.number} has hints 1 to {last}, not {level}."
        )
    progress.hint_read(lesson.name, chosen.todo, level)
    heading, text = chosen.levels[level - 1]
    return Opened(f"TODO {chosen.todo}: {chosen.title}", level, heading, text, level == last)


def _section(todo: str, title: str, body: str) -> Hints:
    named = CHECKS.search(body)
    names = named["names"] if named else ""
    checks = tuple(
        " ".join(name.split()) for name in names.split(";" if ";" in names else ",") if name.strip()
    )
    parts = LEVEL.split(CHECKS.sub("", body))[1:]
    levels = tuple((h.strip(), text.strip()) for h, text in zip(parts[::2], parts[1::2], strict=True))
    return Hints(int(todo), title.strip(), checks, levels)
