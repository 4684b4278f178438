"""``course export PLATFORM LESSON``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk, lessons
from grader.domain.errors import BadInputError
from grader.domain.plural import plural
from grader.teaching.export import bundle, nbgrader

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson

PLATFORMS = {"gradescope": bundle.gradescope, "classroom50": bundle.classroom50}


def run(platform: str, word: str, out: Path | None, hidden: Path | None) -> int:
    """Write the package and say what to do with it."""
    lesson = lessons.find(word)
    if platform == "nbgrader":
        return _nbgrader(lesson, out or Path(f"{lesson.name}.ipynb"), hidden)
    if platform not in PLATFORMS:
        raise BadInputError(
            f"There is no export to {platform!r}; there are {', '.join([*PLATFORMS, 'nbgrader'])}."
        )
    private = lessons.private_folder() / f"{lesson.number}.py"
    hidden = hidden or (private if private.is_file() else None)
    if hidden is not None:
        lessons.with_hidden(lesson.task, hidden)  # its mistakes are told now
    path = out or Path(f"{platform}-{lesson.name}.zip")
    count = bundle.pack(path, PLATFORMS[platform](lesson, hidden))
    where = {
        "gradescope": "upload it as the autograder; choose Ubuntu 24.04 or newer, and the largest container",
        "classroom50": "unpack it in your classroom's folder of the classroom50 repository",
    }[platform]
    secret = ", hidden cases included: keep it private" if hidden else ""
    print(f"{path}: {plural(count, 'file')}{secret}; {where}.")
    return 0


def _nbgrader(lesson: Lesson, path: Path, hidden: Path | None) -> int:
    """Write the notebook and, beside it, the configuration that nbgrader needs to grade it."""
    disk.write(path, nbgrader.assignment(lesson))
    config = disk.write(path.with_name("nbgrader_config.py"), nbgrader.CONFIG)
    print(f"{path}: put it into source/{lesson.name}/ of your nbgrader course.")
    print(f"{config}: put it into the course's folder, or its lines into the file of that name there.")
    if hidden is not None:
        lessons.with_hidden(lesson.task, hidden)  # its mistakes are told now
        print(f"Hidden cases are not in the notebook: grade with COURSE_HIDDEN={hidden.resolve()} set.")
    return 0
