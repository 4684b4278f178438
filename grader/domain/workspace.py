"""The student's own files: ``work/NN_name.py``, copied from the starter on first use, ignored by git.

``course start DIR`` makes such a folder anywhere, with a marker in it by which it is found from within.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from grader.domain import disk
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE, from_wheel
from grader.domain.lessons import Lesson, course_root

MARKER = ".course"


def folder() -> Path:
    """Where the student's files lie: see :func:`here`. BadInputError says how to get such a folder."""
    if found := here():
        return found
    raise BadInputError(
        f"There is no folder with your exercises here; {COURSE} start my-course lays one out, "
        f"and {COURSE} finds it from within."
    )


def here() -> Path | None:
    """``$COURSE_WORK``, the folder around us that ``course start`` laid out, or ``work/`` in the checkout.

    None where nothing of the kind is there: the package was installed, and no exercise laid out yet.
    """
    if named := os.environ.get("COURSE_WORK"):
        return Path(named).resolve()
    now = Path.cwd()
    if started := next((place for place in (now, *now.parents) if (place / MARKER).is_file()), None):
        return started.resolve()
    return None if from_wheel() else course_root() / "work"


def for_results() -> Path:
    """Where pages and pictures are written that no place was named for: with the exercises, or else here."""
    return here() or Path.cwd()


def place(lesson: Lesson) -> Path:
    """The student's file of a lesson, whether it exists yet or not."""
    return folder() / f"{lesson.name}.py"


def file(lesson: Lesson) -> Path:
    """The student's file of a lesson; the first use lays a copy of the starter there."""
    mine = place(lesson)
    if not mine.exists():
        disk.write(mine, lesson.exercise.read_bytes())
    return mine


def page(lesson: Lesson) -> Path:
    """What to read of a lesson: its page, or that page as the notebook which `start` laid out."""
    if from_wheel() and (mine := here()) and (book := mine / f"{lesson.name}.ipynb").is_file():
        return book
    return lesson.folder / "README.md"


def reset(lesson: Lesson) -> Path | None:
    """Lay the starter out again; the student's file is kept; its new place, None if there was none."""
    mine, kept = place(lesson), None
    if mine.exists():
        kept = folder() / "backup" / f"{lesson.name}.{time.strftime('%Y-%m-%d-%H%M%S')}.py"
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            while kept.exists():  # two within one second
                kept = kept.with_name(f"{kept.stem}+.py")
            mine.replace(kept)
        except OSError as error:
            raise BadInputError(f"The backup {kept} cannot be written: {error.strerror}.") from error
    file(lesson)
    return kept


def shown(path: Path) -> str:
    """A path as a person would type it: relative to where they are, when that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) and not relative.startswith("../..") else str(path)
