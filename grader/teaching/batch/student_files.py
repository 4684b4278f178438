"""What was handed in: one entry a student and lesson, whatever the platform it came from calls things."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES = (".py", ".ipynb")
NUMBERED = re.compile(r"(?:(?:[a-z_]*_)?(?:lesson|exercise|ex|hw|task|lab|assignment)_?)?0*(\d{1,2})(?!\d)")
OUR_NAMES = ("exercise", "lesson", "solution", "submission", "main")


@dataclass(frozen=True, slots=True)
class StudentFile:
    """One student's file for one lesson.

    ``student`` is the key that reports use. ``path`` None and a ``problem`` in one sentence when there is
    nothing to grade. ``when``: Unix time of the submission, if anything tells it. ``late``: the platform
    has marked it. ``notes``: what a teacher should know, a sentence each. ``nick``: for a leaderboard.
    """

    student: str
    lesson: str
    path: Path | None
    name: str = ""
    email: str = ""
    section: str = ""
    nick: str = ""
    when: float | None = None
    late: bool = False
    notes: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """The file of a folder that belongs to a lesson; ``path`` is None when no file does."""

    path: Path | None
    notes: tuple[str, ...] = ()
    problem: str = ""


def legible(one: StudentFile) -> StudentFile:
    """The same with every word as text that can be written and sent, whatever names the files had."""
    student, name, email, section, nick, problem = map(
        disk.legible, (one.student, one.name, one.email, one.section, one.nick, one.problem)
    )
    notes = tuple(map(disk.legible, one.notes))
    return replace(
        one, student=student, name=name, email=email, section=section, nick=nick, problem=problem, notes=notes
    )


def lesson_named(part: str, known: list[str]) -> str:
    """The lesson that a file or folder name speaks of, or "": ``07.py``, ``hw7``, ``07_fused_bias_relu``."""
    word = re.sub(r"[^a-z0-9]+", "_", Path(part).stem.lower()).strip("_")
    for lesson in known:
        if lesson[3:] in word:
            return lesson
    if found := NUMBERED.match(word):
        return next((x for x in known if int(x[:2]) == int(found[1])), "")
    return ""


def sources(folder: Path) -> list[Path]:
    """Files below a folder that could be submissions, sorted. Links are not followed and not read."""
    found = []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        if any(p.startswith((".", "__")) for p in inner) or path.suffix.lower() not in SOURCES:
            continue
        if path.is_file() and not any(p.is_symlink() for p in (path, *_between(path, folder))):
            found.append(path)
    return found


def _between(path: Path, folder: Path) -> list[Path]:
    return [p for p in path.parents if p.is_relative_to(folder) and p != folder]


def choose_file(
    folder: Path,
    lesson: str,
    known: list[str],
    files: list[Path] | None = None,
    given: Callable[[Path], str] | None = None,
) -> ChosenFile:
    """Which file below ``folder`` is the one for ``lesson``: by its name, else the only one that there is.

    ``given`` answers the student's own name of a file, where a platform has renamed it.
    """
    files = sources(folder) if files is None else files
    if not files:
        links = any(p.is_symlink() for p in folder.rglob("*"))
        return ChosenFile(
            None, problem="There is no .py or .ipynb file" + (", only links." if links else ".")
        )
    inner = {path: Path(given(path)) if given else path.relative_to(folder) for path in files}
    spoken = {path: _spoken(inner[path], known) for path in files}
    right = [path for path in files if spoken[path] == lesson]
    if right:
        return _newest(right, inner)
    other = [path for path in files if not spoken[path]]
    ours = [path for path in other if _usual(inner[path])]
    if len(ours or other) == 1:
        (path,) = ours or other
        renamed = (f"Renamed: {inner[path].name} was taken for the lesson.",)
        return ChosenFile(path, () if _usual(inner[path]) else renamed)
    if not other:
        return ChosenFile(None, problem=f"No file is for lesson {lesson[:2]}.")
    names = ", ".join(inner[p].name for p in other[:4])
    return ChosenFile(
        None, problem=f"{len(other)} files could be meant, none is named for the lesson: {names}."
    )


def _spoken(inner: Path, known: list[str]) -> str:
    """The lesson that a path names, the file's own name before its folders'."""
    return next((found for part in reversed(inner.parts) if (found := lesson_named(part, known))), "")


def _usual(inner: Path) -> bool:
    return inner.stem.lower() in OUR_NAMES


def _newest(files: list[Path], inner: dict[Path, Path]) -> ChosenFile:
    order = sorted(files, key=lambda p: (p.stat().st_mtime, p.suffix == ".py", str(p)))
    best, rest = order[-1], order[:-1]
    if not rest:
        return ChosenFile(best)
    others = ", ".join(str(inner[p]) for p in rest[:4])
    return ChosenFile(best, (f"Duplicate: {inner[best]} is the newest and was graded, not {others}.",))


def distinct_students(found: list[StudentFile]) -> list[StudentFile]:
    """One entry a student and lesson. Several students with one key get numbers, so that no row is lost."""
    seen: dict[tuple[str, str], int] = {}
    out = []
    for one in found:
        key = (one.student, one.lesson)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            note = f"Duplicate: {seen[key]} submissions are named {one.student}."
            one = replace(one, student=f"{one.student}-{seen[key]}", notes=(*one.notes, note))
        out.append(one)
    return out
