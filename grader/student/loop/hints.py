"""A lesson's hints, one level at a time: the idea, the place, the shape of the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.student import progress

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson


def levels(lesson: Lesson) -> list[tuple[str, str]]:
    """(heading, text) of each hint, from the vague to the plain."""
    page = (lesson.folder / "hints.md").read_text(encoding="utf-8")
    parts = re.split(r"^## +(.+)$", page, flags=re.M)[1:]
    return [(title.strip(), text.strip()) for title, text in zip(parts[::2], parts[1::2], strict=True)]


def following(lesson: Lesson) -> int:
    """The next level to open, from 1; after the last one it stays there."""
    return min(progress.read().line(lesson.name).hints + 1, len(levels(lesson)))


def take(lesson: Lesson, level: int | None = None) -> tuple[int, str, str]:
    """Open a hint (the next one unless ``level`` says which) and remember it: (level, heading, text)."""
    every = levels(lesson)
    level = level or following(lesson)
    if not 1 <= level <= len(every):
        raise BadInputError(f"Lesson {lesson.number} has hints 1 to {len(every)}, not {level}.")
    progress.hint_read(lesson.name, level)
    return level, *every[level - 1]
