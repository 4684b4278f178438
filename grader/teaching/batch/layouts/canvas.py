"""Canvas: "Download submissions" gives ``doejane_LATE_1234_56789_exercise-1.py``, all in one folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.teaching.batch import unpack
from grader.teaching.batch.student_files import StudentFile, choose_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<submission>\d+)_(?P<file>.+)")


def fits(folder: Path) -> bool:
    """Whether most files have such names."""
    files = [p.name for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")]
    return bool(files) and 2 * sum(bool(FILE.fullmatch(name)) for name in files) > len(files)


def read(folder: Path, lesson: str, known: list[str]) -> Iterator[StudentFile]:
    """One entry a user; Canvas numbers a student's tries in the name (``-1``, ``-2``), the last counts."""
    users: dict[str, list[tuple[re.Match[str], Path]]] = {}
    for path in sorted(folder.iterdir()):
        if (match := FILE.fullmatch(path.name)) and path.is_file() and not path.is_symlink():
            users.setdefault(match["user"], []).append((match, path))
    for user, tries in users.items():
        name, late = tries[0][0]["name"], any(m["late"] for m, _ in tries)
        newest = max(int(m["submission"]) for m, _ in tries)
        files, notes = _unpacked([p for m, p in tries if int(m["submission"]) == newest])
        versions: dict[str, tuple[int, Path]] = {}
        for path in files:
            plain, version = _version(path)
            if plain not in versions or versions[plain][0] < version:
                versions[plain] = (version, path)
        last = [p for _, p in versions.values()]
        chosen = choose_file(folder, lesson, known, last, lambda p: _version(p)[0])
        yield StudentFile(
            user, lesson, chosen.path, name=name, late=late, notes=(*notes, *chosen.notes),
            problem=chosen.problem,
        )  # fmt: skip


def _unpacked(files: list[Path]) -> tuple[list[Path], tuple[str, ...]]:
    """Source files; a student's zip files count as what is in them."""
    from grader.domain.errors import BadInputError
    from grader.teaching.batch.student_files import SOURCES, sources

    found, notes = [p for p in files if p.suffix.lower() in SOURCES], []
    for archive in (p for p in files if p.suffix.lower() == ".zip"):
        into = archive.with_name(f".{archive.stem}.unpacked")
        try:
            if not into.exists():
                unpack.unpack(archive, into, files=500, in_all=64 << 20)
            found += sources(into)
        except BadInputError as error:
            notes.append(str(error))
    return found, tuple(notes)


def _given(path: Path) -> str:
    match = FILE.fullmatch(path.name)
    return match["file"] if match else path.name


def _version(path: Path) -> tuple[str, int]:
    match = re.fullmatch(r"(.+?)(?:-(\d{1,3}))?(\.\w+)", _given(path))
    return (match[1] + match[3], int(match[2] or 0)) if match else (_given(path), 0)
