"""One file a student, or one folder a student: what a teacher has who collects by hand or from nbgrader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from grader.teaching.batch import unpack
from grader.teaching.batch.student_files import LOG, HandIn, aside, below, lesson_named

if TYPE_CHECKING:
    from collections.abc import Iterator

# A number at the end of such a name counts students, not lessons.
COUNTED = {"user", "student", "stud", "participant", "submission", "team", "group", "member", "u", "s"}
ENDS = re.compile(r"(?P<who>.+?)[ _.-]+(?:lesson|exercise|ex|hw|task|lab|assignment)?[ _.-]?0*(?P<n>\d{1,2})")

OWN_LOG = re.compile(rf"(?P<who>.+?)[ _.-]+(?P<log>{LOG.pattern})", re.I)


def folders(folder: Path) -> Iterator[Path]:
    """Folders that may be students'."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and not aside(path.name):
            yield path


def read_folders(folder: Path, known: list[str]) -> Iterator[HandIn]:
    """``alice/07.py``, ``alice/07_fused_bias_relu/exercise.py``, ``alice/exercise.py``; loose files, too."""
    for home in folders(folder):
        yield HandIn(home.name, tuple(below(home)))
    yield from read_files(folder, known)


def read_files(folder: Path, known: list[str]) -> Iterator[HandIn]:
    """``alice.py``, ``bob.ipynb``, ``carl.zip``, ``alice_07.py``; all files of a name are one student's.

    A lesson's number in front is part of the name only if not all names begin with one.
    """
    files = [p for p in sorted(folder.iterdir()) if not aside(p.name)]
    files = [p for p in files if p.is_symlink() or not p.is_dir()]
    numbered = bool(files) and all(p.name[:2].isdigit() and p.name[2:3] in ("_", "-") for p in files)
    mine: dict[str, list[tuple[Path, Path]]] = {}
    for path in files:
        if found := OWN_LOG.fullmatch(path.name):
            mine.setdefault(found["who"], []).append((path, Path(found["log"])))
            continue
        student, lesson = _owner(path, known, numbered=numbered)
        ending = unpack.suffix(path) or path.suffix
        # Without the student in it, a name speaks of a lesson or of nothing.
        own = Path(f"{lesson}{ending}" if lesson else f"exercise{ending}")
        mine.setdefault(student, []).append((path, own))
    for student, given in sorted(mine.items()):
        yield HandIn(student, tuple(given))


def _owner(path: Path, known: list[str], *, numbered: bool) -> tuple[str, str]:
    """Whose file it is, and the lesson that its name speaks of, or ""."""
    ending = unpack.suffix(path) or path.suffix
    stem = path.name[: len(path.name) - len(ending)]
    if numbered:
        return stem[3:], lesson_named(stem[:2], known)
    for lesson in known:
        for word in (f"_{lesson}", f"{lesson}_", f"_lesson{lesson[:2]}", f"lesson{lesson[:2]}_"):
            if word in stem and stem != word.strip("_"):
                return stem.replace(word, ""), lesson
    found = ENDS.fullmatch(stem)
    if found and found["who"].lower() not in COUNTED and re.search(r"[^\W\d_]", found["who"]):
        lesson = next((x for x in known if int(x[:2]) == int(found["n"])), "")
        return (found["who"], lesson) if lesson else (stem, "")
    return stem, ""
