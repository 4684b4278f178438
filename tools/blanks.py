"""What is left to write in a lesson that ``course dev new`` began: its lines with ``BLANK:``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.lessons import Lesson, course_root

if TYPE_CHECKING:
    from pathlib import Path

BLANK = re.compile(r"BLANK: (?P<what>.*?)\s*(?:-->.*|[.?]?\",?)?$")
EXCERPT = re.compile(r"<!-- code: .*?<!-- /code -->", re.S)
GENERATED = ("exercise.py", "lesson.ipynb")


@dataclass(frozen=True, slots=True)
class Blank:
    """A line of a file that asks for something."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        place = self.path
        if place.is_relative_to(course_root()):
            place = place.relative_to(course_root())
        return f"{place}:{self.line}: {self.what}"


def left(lesson: Lesson) -> list[Blank]:
    """All blanks of a lesson's own files, in order; what is generated from them is not looked at."""
    found = []
    for folder in (lesson.folder, lesson.solution.parent):
        for path in sorted(folder.glob("*.*")):
            if path.suffix in (".py", ".md", ".toml") and path.name not in GENERATED:
                found += _in(path)
    return found


def names(blanks: list[Blank], word: str) -> bool:
    """Whether one of them asks for ``word``: then there may be fewer of them than a whole lesson has."""
    return any(re.search(rf"\b{word}\b", blank.what) for blank in blanks)


def _in(path: Path) -> list[Blank]:
    text = EXCERPT.sub(lambda match: "\n" * match[0].count("\n"), path.read_text("utf-8"))
    found = ((number, BLANK.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return [Blank(path, number, match["what"]) for number, match in found if match]
