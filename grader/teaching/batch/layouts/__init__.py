"""Layouts of a folder of submissions: one file each, recognised by what lies in the folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.domain.installation import document
from grader.teaching.batch import file_fates
from grader.teaching.batch.layouts import canvas, gradescope_export, moodle, plain_folder
from grader.teaching.batch.student_files import (
    OUR_NAMES,
    StudentFile,
    aside,
    distinct_students,
    legible,
)

if TYPE_CHECKING:
    from pathlib import Path

    from grader.reports.row import FileFate

NAMES = ("auto", "files", "folders", "gradescope", "canvas", "moodle")
READERS = {
    "gradescope": gradescope_export.read, "canvas": canvas.read, "moodle": moodle.read,
    "folders": plain_folder.read_folders, "files": plain_folder.read_files,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Handed:
    """What lies in a folder: an entry a student and lesson, sorted, and what becomes of every file.

    ``places``: of each file that is to be graded the name that its fate has, by its path.
    """

    layout: str
    files: tuple[StudentFile, ...]
    fates: tuple[FileFate, ...]
    places: dict[str, str] = field(default_factory=dict)


def recognise(folder: Path) -> str:
    """The layout of a folder."""
    for name, module in (("gradescope", gradescope_export), ("moodle", moodle), ("canvas", canvas)):
        if module.fits(folder):
            return name
    return "folders" if any(plain_folder.folders(folder)) else "files"


def read(
    folder: Path,
    lessons: list[str],
    known: list[str],
    room: Path,
    layout: str = "auto",
    nowhere: dict[str, str] | None = None,
) -> Handed:
    """Everything that lies in the folder; BadInputError if nothing does.

    Args:
        folder: The folder of submissions.
        lessons: Folder names of the lessons that are graded.
        known: All lessons of the course, so that a file for another one is not taken for one of these.
        room: A folder for what students' archives hold; it is made.
        layout: One of ``NAMES``.
        nowhere: Members of the class's archive that could not be unpacked, and why.
    """
    if layout not in NAMES:
        raise BadInputError(f"There is no layout {layout!r}; the layouts are {', '.join(NAMES)}.")
    inner = [p for p in folder.iterdir() if not aside(p.name)]
    if len(inner) == 1 and inner[0].is_dir() and layout == "auto" and _is_wrapper(inner[0], known):
        folder = inner[0]  # archives often have one folder around everything
    layout = recognise(folder) if layout == "auto" else layout
    handed = list(READERS[layout](folder, known))
    if not handed:
        raise BadInputError(
            f"No submissions were found in {folder} (layout {layout}); "
            f"{document('guide/teacher')} shows the layouts."
        )
    claimed = [file_fates.claim(one, lessons, known, folder, room) for one in handed]
    found = sorted((legible(h) for one in claimed for h in one.entries), key=lambda h: (h.lesson, h.student))
    fates = [fate for one in claimed for fate in one.fates]
    fates += file_fates.nobodys(folder, handed, nowhere or {})
    places = {path: name for one in claimed for path, name in one.places.items()}
    return Handed(layout, tuple(distinct_students(found)), tuple(fates), places)


def _is_wrapper(folder: Path, known: list[str]) -> bool:
    """Whether a folder is one around a whole class, and not the one student's who has handed in."""
    if all(p.stem.lower() in (*known, *OUR_NAMES) for p in folder.iterdir() if not aside(p.name)):
        return False
    return recognise(folder) != "files" or len(list(folder.glob("*.py"))) > 1
