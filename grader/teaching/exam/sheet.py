"""A student's or a term's variant of a lesson as files: what is handed out, and what grades it.

What is kept is laid out as the course is, ``lessons/`` and ``solutions/`` in a folder of the student's or the
term's, so that with ``COURSE_ROOT`` set to it every command takes the variant for the lesson.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk, lessons, markers
from grader.domain.errors import BadInputError
from grader.domain.lessons import Lesson
from grader.teaching.exam.exam_papers import PAPERS

if TYPE_CHECKING:
    from grader.teaching.exam.draws import Draws

TEMPLATES = Path(__file__).parent / "papers"
FILES = ("task.py", "reference.py", "mutants.toml")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One variant: ``starter`` is handed out, ``key`` passes, ``lesson`` of the course ``root`` grades it."""

    starter: Path
    key: Path
    lesson: Lesson
    root: Path


def write(word: str, draws: Draws, out: Path) -> Sheet:
    """Write a student's variant of a lesson below ``out``: ``students/`` to hand out, ``keys/`` to keep.

    BadInputError for a lesson without an exam, and for an empty name.
    """
    of = lessons.find(word)
    if of.number not in PAPERS:
        raise BadInputError(f"There are exams for lessons {', '.join(PAPERS)}, not for {of.number}.")
    if not draws.name.strip():
        raise BadInputError("Whose exam is it? Give a name or number: --name ada")
    person = disk.slug(" ".join(draws.name.lower().split()))
    root = out.resolve() / "keys" / person
    lesson = root / "lessons" / of.name
    key = root / "solutions" / of.name / "solution.py"
    words = PAPERS[of.number](draws)
    for name in FILES:
        template = TEMPLATES / of.number / f"{name}.txt"
        if template.is_file():
            disk.write(lesson / name, _filled(template.read_text("utf-8"), words).encode())
    marked = _filled((TEMPLATES / of.number / "solution.py.txt").read_text("utf-8"), words)
    text = markers.starter(disk.write(key, marked.encode())).encode()
    disk.write(lesson / "exercise.py", text)
    starter = disk.write(out.resolve() / "students" / person / f"{of.name}.py", text)
    disk.write(key, _without_marks(marked).encode())
    return Sheet(starter, key, Lesson(of.name, lesson, lessons.load_task(lesson / "task.py")), root)


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda match: words[match[1]], text)


def _without_marks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not markers.MARKER.match(line)) + "\n"
