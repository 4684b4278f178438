"""What is profiled: the calls of a lesson with somebody's file, or a script of their own as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.task import Case, Task, Tensor

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson
    from grader.domain.submission import Submission


@dataclass(frozen=True, slots=True)
class Subject:
    """``counted``: the calls at a size that the CPU back end counts quickly; ``timed``: at full size.

    Without a lesson there are no calls: the file is a script, and what it launches is looked at.
    """

    name: str
    submission: Submission
    lesson: Lesson | None = None
    counted: tuple[Case, ...] = ()
    timed: tuple[Case, ...] = ()


def find(what: str, file: Path | None) -> Subject:
    """What is meant by ``07``, ``07 mine.py`` or ``mine.py``; a lesson is also known by its file's name."""
    path = Path(what)
    if file is None and (path.suffix in (".py", ".ipynb") or path.exists()):
        read, lesson = submission.read(path), _lesson_of(path.resolve())
        if lesson is None or not _calls(lesson.task):
            return Subject(path.stem, read)
    else:
        lesson = lessons.find(what)
        read = submission.read(file or workspace.file(lesson))
    calls = _calls(lesson.task)
    if not calls:
        raise BadInputError(
            f"Lesson {lesson.number} makes no call that launches kernels, so there is nothing to profile; "
            f"a script of your own can be: {COURSE} profile FILE.py"
        )
    speed = lesson.task.speed
    timed = (speed.full,) if speed else calls
    return Subject(lesson.name, read, lesson, calls, timed)


def _lesson_of(path: Path) -> Lesson | None:
    """The lesson that a file's or its folder's name begins with the name of, if there is one."""
    for name in lessons.names():
        if path.stem == name or path.parent.name == name:
            return lessons.find(name)
    return None


def _calls(task: Task) -> tuple[Case, ...]:
    """One call of each entry: that of the speed, else the one with the largest tensors on the GPU."""
    if task.speed is not None:
        return (task.speed.case,)
    largest: dict[str, Case] = {}
    for case in task.cases:
        entry = case.entry or task.entry
        if case.expect == "match" and _plain(case) and _size(case) > _size(largest.get(entry)):
            largest[entry] = case
    return tuple(largest.values())


def _plain(case: Case) -> bool:
    """Whether its tensors lie on the GPU, in the usual way, and are filled with ordinary numbers."""
    tensors = [a for a in case.args if isinstance(a, Tensor)]
    usual = all(t.device == "cuda" and t.layout == "contiguous" and t.fill != "special" for t in tensors)
    return bool(tensors) and usual and not case.hidden


def _size(case: Case | None) -> int:
    return sum(math.prod(a.shape) for a in case.args if isinstance(a, Tensor)) if case else 0
