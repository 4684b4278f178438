"""A student's variant of a lesson as files: what is handed out, and what the teacher keeps to grade it."""

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
FILES = ("task.py", "reference.py", "solution.py")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One student's variant: ``starter`` is handed out; ``lesson`` is what grades it, ``key`` passes."""

    starter: Path
    key: Path
    lesson: Lesson


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
    folder = out.resolve() / "keys" / person / of.name
    words = PAPERS[of.number](draws)
    for name in FILES:
        template = TEMPLATES / of.number / f"{name}.txt"
        if template.is_file():
            disk.write(folder / name, _filled(template.read_text("utf-8"), words).encode())
    text = markers.starter(folder / "solution.py").encode()
    disk.write(folder / "exercise.py", text)
    starter = disk.write(out.resolve() / "students" / person / f"{of.name}.py", text)
    key = disk.write(folder / "solution.py", _without_marks(folder / "solution.py").encode())
    return Sheet(starter, key, Lesson(of.name, folder, lessons.load_task(folder / "task.py")))


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda match: words[match[1]], text)


def _without_marks(path: Path) -> str:
    lines = path.read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not markers.MARKER.match(line)) + "\n"
