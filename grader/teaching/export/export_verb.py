"""``course export PLATFORM LESSON``."""

from __future__ import annotations

from pathlib import Path

from grader.domain import lessons
from grader.domain.errors import BadInputError
from grader.teaching.export import bundle, nbgrader

PLATFORMS = {"gradescope": bundle.gradescope, "classroom50": bundle.classroom50}


def run(platform: str, word: str, out: Path | None, hidden: Path | None) -> int:
    """Write the package and say what to do with it."""
    lesson = lessons.find(word)
    if platform == "nbgrader":
        path = out or Path(f"{lesson.name}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nbgrader.assignment(lesson), "utf-8")
        print(f"{path}: put it into source/{lesson.name}/ of your nbgrader course.")
        return 0
    if platform not in PLATFORMS:
        raise BadInputError(
            f"There is no export to {platform!r}; there are {', '.join([*PLATFORMS, 'nbgrader'])}."
        )
    private = lessons.course_root() / "tasks_private" / f"{lesson.number}.py"
    hidden = hidden or (private if private.is_file() else None)
    if hidden is not None:
        lessons.with_hidden(lesson.task, hidden)  # its mistakes are told now
    path = out or Path(f"{platform}-{lesson.name}.zip")
    count = bundle.pack(path, PLATFORMS[platform](lesson, hidden))
    where = {
        "gradescope": "upload it as the autograder; choose Ubuntu 22.04 or newer, and the largest container",
        "classroom50": "unpack it in your classroom's folder of the classroom50 repository",
    }[platform]
    secret = ", hidden cases included: keep it private" if hidden else ""
    print(f"{path}: {count} files{secret}; {where}.")
    return 0
