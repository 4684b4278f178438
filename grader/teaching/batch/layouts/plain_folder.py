"""One file a student, or one folder a student: what a teacher has who collects by hand or from nbgrader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.teaching.batch import unpack
from grader.teaching.batch.student_files import SOURCES, StudentFile, choose_file, lesson_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def folders(folder: Path) -> Iterator[Path]:
    """Folders that may be students'."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and not path.name.startswith((".", "__")):
            yield path


def read_folders(folder: Path, lesson: str, known: list[str]) -> Iterator[StudentFile]:
    """``alice/07.py``, ``alice/07_fused_bias_relu/exercise.py``, ``alice/exercise.py``; loose files, too."""
    for home in folders(folder):
        notes = unpack.unpack_nested(home)
        chosen = choose_file(home, lesson, known)
        when = chosen.path.stat().st_mtime if chosen.path else None
        yield StudentFile(
            home.name, lesson, chosen.path, when=when, notes=(*notes, *chosen.notes), problem=chosen.problem
        )
    yield from read_files(folder, lesson, known)


def read_files(folder: Path, lesson: str, known: list[str]) -> Iterator[StudentFile]:
    """``alice.py``, ``bob.ipynb``; a lesson's number is part of the name only if all names begin with one."""
    files = [
        p for p in sorted(folder.iterdir())
        if p.suffix.lower() in SOURCES and not p.name.startswith((".", "__")) and not p.is_dir()
    ]  # fmt: skip
    numbered = bool(files) and all(p.stem[:2].isdigit() and p.stem[2:3] in ("_", "-") for p in files)
    mine: dict[str, list[Path]] = {}
    for path in files:
        student = path.stem
        if numbered:
            if lesson_named(path.name, known) != lesson:
                continue
            student = student[3:]
        for word in (f"_{lesson}", f"{lesson}_", f"_lesson{lesson[:2]}", f"lesson{lesson[:2]}_"):
            student = student.replace(word, "") or student
        mine.setdefault(student, []).append(path)
    for student, paths in sorted(mine.items()):
        paths.sort(key=lambda p: (p.lstat().st_mtime, p.name))
        path, problem = paths[-1], ""
        notes = [f"Duplicate: {path.name} is the newest and was graded, not {p.name}." for p in paths[:-1]]
        if path.is_symlink():
            problem = f"{path.name} is a link, which is not followed."
        yield StudentFile(
            student, lesson, None if problem else path, when=path.lstat().st_mtime, notes=tuple(notes),
            problem=problem,
        )  # fmt: skip
