"""Moodle: folders ``Jane Doe_1234567_assignsubmission_file_`` (or ``..._file`` and files with such names)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.teaching.batch import unpack
from grader.teaching.batch.student_files import StudentFile, choose_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENTRY = re.compile(r"(?P<name>[^_]+)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<file>.*)")


def fits(folder: Path) -> bool:
    """Whether any entry has such a name."""
    return any(ENTRY.fullmatch(p.name) for p in folder.iterdir())


def read(folder: Path, lesson: str, known: list[str]) -> Iterator[StudentFile]:
    """One entry a participant: the number in the name is Moodle's participant number."""
    people: dict[str, list[Path]] = {}
    names: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        match = ENTRY.fullmatch(path.name)
        if match and match["kind"] == "file" and not path.is_symlink():
            people.setdefault(match["id"], []).append(path)
            names[match["id"]] = match["name"]
        elif match:
            names.setdefault(match["id"], match["name"])
    for number, name in names.items():
        entry = StudentFile(
            number, lesson, None, name=name, problem="Text was typed into Moodle, but no file handed in."
        )
        yield _of(people[number], folder, entry, known) if number in people else entry


def _of(places: list[Path], folder: Path, entry: StudentFile, known: list[str]) -> StudentFile:
    home = places[0]
    if home.is_dir():
        notes = unpack.unpack_nested(home)
        chosen = choose_file(home, entry.lesson, known)
    else:
        notes = ()
        chosen = choose_file(
            folder, entry.lesson, known, [p for p in places if p.suffix in (".py", ".ipynb")], _given
        )
    when = chosen.path.stat().st_mtime if chosen.path else None
    return replace(
        entry, path=chosen.path, problem=chosen.problem, notes=(*notes, *chosen.notes), when=when
    )  # fmt: skip


def _given(path: Path) -> str:
    match = ENTRY.fullmatch(path.name)
    return match["file"] if match else path.name
