"""What Jupyter is given: the student's copies of the notebooks, and a kernel spec that nobody else sees."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import nbformat

from grader.domain import disk, lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import python_path
from grader.domain.lesson_notebook import text

if TYPE_CHECKING:
    from pathlib import Path

    from grader.backends.detect import Choice
    from grader.domain.lessons import Lesson

KERNEL = "inline-to-fused"


def notebook(lesson: Lesson) -> Path:
    """The student's notebook of a lesson; the first use copies the lesson's and gives it our kernel."""
    mine, page = workspace.folder() / f"{lesson.name}.ipynb", lesson.folder / "lesson.ipynb"
    if not mine.exists():
        try:
            book = nbformat.read(page, as_version=4)
        except (OSError, ValueError) as error:
            raise BadInputError(f"{page} cannot be read; git checkout {page} restores it.") from error
        book.metadata.kernelspec = {"display_name": "Python", "language": "python", "name": KERNEL}
        disk.write(mine, text(book))
    return mine


def notebooks() -> list[Path]:
    """All of them."""
    found = [lesson for lesson in lessons.every() if (lesson.folder / "lesson.ipynb").exists()]
    return [notebook(lesson) for lesson in found]


def spec(choice: Choice) -> Path:
    """Write the kernel spec; answers the folder that JUPYTER_PATH must name for it to be found.

    It lies with the student's work, so nothing of the course remains in Jupyter's own folders.
    """
    place = workspace.folder() / ".jupyter"
    where = "on a GPU" if choice.name == "cuda" else "CUDA on this CPU"
    data = {
        # -P: nothing in the notebook's folder shadows the library that the kernel itself needs.
        "argv": [
            sys.executable,
            "-P",
            "-m",
            "grader.student.lab.lab_kernel",
            choice.name,
            "-f",
            "{connection_file}",
        ],
        "display_name": f"Inline to Fused ({where})",
        "language": "python",
        "interrupt_mode": "signal",
        "env": {"PYTHONPATH": python_path()},
    }
    disk.write(place / "kernels" / KERNEL / "kernel.json", json.dumps(data, indent=1) + "\n")
    return place


def environment(place: Path) -> dict[str, str]:
    """The environment in which Jupyter finds the spec, before any of the same name elsewhere."""
    paths = [str(place), os.environ.get("JUPYTER_PATH", "")]
    return {"JUPYTER_PATH": os.pathsep.join(filter(None, paths))}
