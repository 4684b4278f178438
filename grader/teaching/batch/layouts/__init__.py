"""Layouts of a folder of submissions: one file each, recognised by what lies in the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch.layouts import canvas, gradescope_export, moodle, plain_folder
from grader.teaching.batch.student_files import StudentFile, distinct_students, legible

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("auto", "files", "folders", "gradescope", "canvas", "moodle")


def recognise(folder: Path) -> str:
    """The layout of a folder."""
    for name, module in (("gradescope", gradescope_export), ("moodle", moodle), ("canvas", canvas)):
        if module.fits(folder):
            return name
    return "folders" if any(plain_folder.folders(folder)) else "files"


def read(folder: Path, lessons: list[str], known: list[str], layout: str = "auto") -> list[StudentFile]:
    """Everything handed in for these lessons, sorted by student; BadInputError if nothing is there.

    ``known``: all lessons of the course, so that a file for another one is not taken for this one.
    """
    if layout not in NAMES:
        raise BadInputError(f"There is no layout {layout!r}; the layouts are {', '.join(NAMES)}.")
    inner = [p for p in folder.iterdir() if not p.name.startswith((".", "__"))]
    if len(inner) == 1 and inner[0].is_dir() and layout == "auto" and _is_wrapper(inner[0]):
        folder = inner[0]  # zip files often have one folder around everything
    layout = recognise(folder) if layout == "auto" else layout
    readers = {
        "gradescope": gradescope_export.read, "canvas": canvas.read, "moodle": moodle.read,
        "folders": plain_folder.read_folders, "files": plain_folder.read_files,
    }  # fmt: skip
    found = [legible(h) for lesson in lessons for h in readers[layout](folder, lesson, known)]
    if not found:
        raise BadInputError(
            f"No submissions were found in {folder} (layout {layout}); "
            "docs/guide/teacher.md shows the layouts."
        )
    return sorted(distinct_students(found), key=lambda h: (h.lesson, h.student))


def _is_wrapper(folder: Path) -> bool:
    return recognise(folder) != "files" or len(list(folder.glob("*.py"))) > 1
