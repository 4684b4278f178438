"""The student's exercises as modules: ``exercise_07`` is the file of lesson 07 in ``work/``.

A file there begins with a digit, so ``import`` cannot name it. ``exercise``, without a number, is the lesson
of the script that imports it (``work/07_try.py``), or else the file of ``work/`` that was saved last.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

from grader.domain import lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from pathlib import Path
    from types import ModuleType

NAME = re.compile(r"exercise(?:_(\d+))?")
NUMBERED = re.compile(r"(\d\d)_\w+")


class Exercises(MetaPathFinder):
    """Comes last in ``sys.meta_path``, so a real ``exercise.py`` beside the script is found before it.

    ``script`` is the file that is run, None if there is none. A lesson without a file in ``work/`` is a
    ModuleNotFoundError whose one sentence says where the file should lie.
    """

    def __init__(self, script: Path | None = None) -> None:
        self.script = script

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of ``exercise`` and ``exercise_NN``; None for any other name."""
        asked = NAME.fullmatch(name)
        if asked is None:
            return None
        try:
            file = _of_lesson(name, asked[1]) if asked[1] else self._current(name)
            return importlib.util.spec_from_file_location(name, submission.read(file).path)
        except BadInputError as bad:
            raise ModuleNotFoundError(str(bad), name=name) from None

    def _current(self, name: str) -> Path:
        own = NUMBERED.fullmatch(self.script.stem) if self.script else None
        if own and any(n.startswith(own[1]) for n in lessons.names()):
            return _of_lesson(name, own[1])
        saved = [file for n in lessons.names() if (file := workspace.folder() / f"{n}.py").is_file()]
        if not saved:
            raise BadInputError(
                f"{name} is the file of {workspace.shown(workspace.folder())} that you saved last, and "
                f"there is none yet: {COURSE} open 01 lays the first one there."
            )
        return max(saved, key=lambda file: file.stat().st_mtime)


def _of_lesson(name: str, number: str) -> Path:
    """The lesson's file, or its notebook where there is no other."""
    lesson = lessons.find(number)
    mine = workspace.place(lesson)
    for file in (mine, mine.with_suffix(".ipynb")):
        if file.is_file():
            return file
    raise BadInputError(
        f"{name} is your file of lesson {lesson.number}, {workspace.shown(mine)}, and there is none yet: "
        f"{COURSE} open {lesson.number} lays it there."
    )


def install(script: Path | None = None) -> None:
    """From now on ``import exercise_NN`` works in this process."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, Exercises)]
    sys.meta_path.append(Exercises(script))
