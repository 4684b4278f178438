"""Moodle: folders ``Jane Doe_1234567_assignsubmission_file``, or files whose names begin so.

Before version 4.1 a folder's name ended with an underscore.
An underscore in a name becomes a space when Moodle makes the archive; in a group's a name stands in front.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from grader.teaching.batch.student_files import HandIn, below

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRY = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<file>.*)")


def fits(folder: Path) -> bool:
    """Whether any entry has such a name."""
    return any(ENTRY.fullmatch(p.name) for p in folder.iterdir())


def read(folder: Path, _: list[str]) -> Iterator[HandIn]:
    """One entry a participant: the number in the name is Moodle's participant number."""
    given: dict[str, list[tuple[Path, Path]]] = {}
    names: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        match = ENTRY.fullmatch(path.name)
        if match is None:
            continue
        names[match["id"]] = match["name"]
        folder_of = path.is_dir() and not path.is_symlink()
        files = below(path) if folder_of else [(path, Path(match["file"] or path.name))]
        given.setdefault(match["id"], []).extend(files)
    for number, name in names.items():
        yield HandIn(number, tuple(given[number]), name, ids={"moodle": number})
