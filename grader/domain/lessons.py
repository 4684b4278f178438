"""Lessons: the folders of ``lessons/``, found by number or name."""

from __future__ import annotations

import difflib
import importlib.util
import os
from dataclasses import dataclass, replace
from pathlib import Path

from grader.domain.errors import BadInputError
from grader.domain.installation import ABOVE, SHIPPED, from_wheel
from grader.domain.task import Case, Task


def course_root() -> Path:
    """Where the lessons lie: ``$COURSE_ROOT``, what came with this package in a wheel, or the checkout."""
    return Path(os.environ.get("COURSE_ROOT") or (SHIPPED if from_wheel() else ABOVE)).resolve()


def private_folder() -> Path:
    """A teacher's own hidden cases, which git ignores: in the checkout; of a package, in this folder."""
    return (Path.cwd() if from_wheel() else course_root()) / "tasks_private"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One folder of ``lessons/`` and what lies beside it."""

    name: str
    folder: Path
    task: Task

    @property
    def number(self) -> str:
        """Two digits, as in the folder's name."""
        return self.name[:2]

    @property
    def exercise(self) -> Path:
        """The starter that the student edits."""
        return self.folder / "exercise.py"

    @property
    def reference(self) -> Path:
        """The same contract in plain PyTorch."""
        return self.folder / "reference.py"

    @property
    def solution(self) -> Path:
        """What the exercise becomes."""
        return self.folder.parent.parent / "solutions" / self.name / "solution.py"


def load_task(path: Path) -> Task:
    """The ``TASK`` of a ``task.py``. Task files are the course's own and are imported; submissions never."""
    spec = importlib.util.spec_from_file_location(f"task_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise BadInputError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    task = getattr(module, "TASK", None)
    if not isinstance(task, Task):
        raise BadInputError(f"{path} defines no TASK.")
    return task


def with_hidden(task: Task, path: Path) -> Task:
    """The task and, after its own cases, those of a teacher's file: ``HIDDEN``, a tuple of cases."""
    spec = importlib.util.spec_from_file_location("hidden_cases", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise BadInputError(f"{path} is not a Python file with hidden cases.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise BadInputError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    cases = getattr(module, "HIDDEN", None)
    if not isinstance(cases, tuple) or not cases or not all(isinstance(c, Case) and c.hidden for c in cases):
        raise BadInputError(f"{path} must define HIDDEN, a tuple of cases that each name their category.")
    return replace(task, cases=(*task.cases, *cases))


def names() -> list[str]:
    """Names of all lesson folders, in order."""
    return sorted(p.parent.name for p in (course_root() / "lessons").glob("[0-9][0-9]_*/task.py"))


def find(word: str) -> Lesson:
    """The lesson meant by ``7``, ``07``, ``07_fused_bias_relu`` or ``fused_bias_relu``."""
    known = names()
    wanted = word.strip("/").lower()
    if wanted.isdigit():
        wanted = f"{int(wanted):02d}"
    hits = [n for n in known if wanted in (n[:2], n, n[3:])]
    if not hits:
        near = difflib.get_close_matches(wanted, [x for n in known for x in (n[:2], n, n[3:])], 1, 0.4)
        did_you_mean = f" Did you mean {near[0]}?" if near else ""
        raise BadInputError(
            f"There is no lesson {word!r}.{did_you_mean} The lessons are: {', '.join(known)}."
        )
    folder = course_root() / "lessons" / hits[0]
    return Lesson(hits[0], folder, load_task(folder / "task.py"))


def every() -> list[Lesson]:
    """All lessons, in order."""
    return [find(n) for n in names()]
