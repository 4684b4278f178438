"""What was handed in: one entry a student and lesson, whatever the platform it came from calls things."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.domain import disk

SOURCES = (".py", ".ipynb")
NUMBERED = re.compile(r"(?:(?:[a-z_]*_)?(?:lesson|exercise|ex|hw|task|lab|assignment)_?)?0*(\d{1,2})(?!\d)")
COPY = re.compile(r"[\s+_-]*\(\d+\)$")  # what a browser adds to the name of a second download
LOG = re.compile(r"tries(?:[-_ ]?\(?\d+\)?)?\.jsonl", re.I)  # numbered as platforms do that
NOBODYS = ("thumbs.db", "desktop.ini", "submission_metadata.yml")  # systems and platforms leave these
OUR_NAMES = ("exercise", "lesson", "solution", "submission", "main")


@dataclass(frozen=True, slots=True)
class HandIn:
    """What one student handed in, as a layout finds it.

    ``files``: each with the name that the student gave it. ``ids``: what platforms call the student, by
    platform. ``when``: Unix time, if the platform says it; ``late``: the platform has marked it. ``lost``:
    the platform names files that are not there. ``older``: earlier versions of files, which do not count.
    """

    student: str
    files: tuple[tuple[Path, Path], ...]
    name: str = ""
    email: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    when: float | None = None
    late: bool = False
    notes: tuple[str, ...] = ()
    lost: bool = False
    older: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class StudentFile:
    """One student's file for one lesson.

    ``student`` is the key that reports use. ``path`` None where there is nothing to grade: ``missing`` says
    that nothing was handed in, ``problem`` that something was which a person has to look at. ``when``: Unix
    time of the submission, if anything tells it. ``late``: the platform has marked it. ``notes``: what a
    teacher should know, a sentence each. ``nick``: for a leaderboard. ``given``: the file as it was handed
    in, which is an archive where ``path`` was in one. ``held``: why what is missing may not be 0.
    ``log``: the student's own log of tries, of all lessons.
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
    missing: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    given: Path | None = None
    held: str = ""
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """The file that belongs to a lesson; ``path`` is None when no file does, and then it says why.

    ``missing`` if files were handed in, and all for other lessons; ``problem`` if a person has to look.
    """

    path: Path | None
    notes: tuple[str, ...] = ()
    problem: str = ""
    missing: str = ""


def legible(one: StudentFile) -> StudentFile:
    """The same with every word as text that can be written and sent, whatever names the files had."""
    words = (one.student, one.name, one.email, one.section, one.nick, one.problem, one.missing)
    if disk.is_plain("".join((*words, *one.notes, *one.ids.values()))):
        return one  # as nearly all of a term's files
    return replace(
        one, student=disk.legible(one.student), name=disk.legible(one.name), email=disk.legible(one.email),
        section=disk.legible(one.section), nick=disk.legible(one.nick), problem=disk.legible(one.problem),
        missing=disk.legible(one.missing), notes=tuple(map(disk.legible, one.notes)),
        ids={kind: disk.legible(value) for kind, value in one.ids.items()},
    )  # fmt: skip


def lesson_named(part: str, known: list[str]) -> str:
    """The lesson that a file or folder name speaks of, or "": ``07.py``, ``hw7``, ``07_fused_bias_relu``."""
    return _named(part, tuple(known))


@functools.lru_cache(4096)  # each file of a student is asked about for each lesson of a term
def _named(part: str, known: tuple[str, ...]) -> str:
    word = re.sub(r"[^a-z0-9]+", "_", COPY.sub("", Path(part).stem.lower())).strip("_")
    for lesson in known:
        if lesson[3:] in word:
            return lesson
    if found := NUMBERED.match(word):
        return next((x for x in known if int(x[:2]) == int(found[1])), "")
    return ""


def spoken(inner: Path, known: list[str]) -> str:
    """The lesson that a path names, the file's own name before its folders'."""
    return next((found for part in reversed(inner.parts) if (found := lesson_named(part, known))), "")


def aside(name: str) -> bool:
    """Whether a file or folder is hidden, or a program's own (``__pycache__``), and so no student's work."""
    return name.startswith((".", "__")) or name.lower() in NOBODYS


def below(folder: Path) -> list[tuple[Path, Path]]:
    """Files below a folder, sorted, and their names in it. Links are not followed.

    What lies aside is there as well, of a folder the folder itself: it is looked into by nobody.
    """
    found: list[tuple[Path, Path]] = []
    if not folder.is_dir() or folder.is_symlink():
        return found
    with os.scandir(folder) as listed:
        inside = sorted(listed, key=lambda one: one.name)
    for one in inside:
        if one.is_dir(follow_symlinks=False) and not aside(one.name):
            found += [(inner, one.name / name) for inner, name in below(folder / one.name)]
        else:
            found.append((folder / one.name, Path(one.name)))
    return found


def choose_file(
    files: dict[Path, Path],
    lesson: str,
    named: dict[Path, str],
    *,
    others: bool = False,
    several: bool = False,
) -> ChosenFile:
    """Which of the files is the one for ``lesson``: by its name, else the only one that there is.

    Args:
        files: Source files, each with the student's own name for it.
        lesson: The lesson's folder name.
        named: The lesson that each file's name speaks of, or "".
        others: Something was handed in that is no source file.
        several: More than one lesson is graded, so that a file without a number may be for any of them.
    """
    right = [path for path, spoken_of in named.items() if spoken_of == lesson]
    if right:
        return _newest(right, files, lesson)
    other = [path for path in files if not named[path]]
    ours = [path for path in other if files[path].stem.lower() in OUR_NAMES]
    if not other:
        if others:
            return ChosenFile(None, problem="There is no .py or .ipynb file for this lesson.")
        if len(files) == 1 and not several:  # a wrong file was sent, or its number means something else
            ((path, inner),) = files.items()
            words = f"Only {_shown(path, inner)} was handed in, whose name speaks of lesson"
            return ChosenFile(None, problem=f"{words} {named[path][:2]}.")
        return ChosenFile(None, missing=f"No file is for lesson {lesson[:2]}.")
    if len(ours or other) == 1 and not several:
        (path,) = ours or other
        renamed = (f"Renamed: {_shown(path, files[path])} was taken for the lesson.",)
        return ChosenFile(path, () if path in ours else renamed)
    names = ", ".join(_shown(p, files[p]) for p in (ours or other)[:4])
    if len(ours or other) == 1:
        return ChosenFile(
            None, problem=f"{names} names no lesson, and several are graded; put the lesson's number into it."
        )
    return ChosenFile(
        None, problem=f"{len(ours or other)} files could be meant, none is named for the lesson: {names}."
    )


def _shown(path: Path, inner: Path) -> str:
    """A file's name as its student knows it, unless a layout has made one up."""
    return inner.name if path.name.endswith(inner.name) else path.name


def _newest(files: list[Path], inner: dict[Path, Path], lesson: str) -> ChosenFile:
    """Of several files for the lesson the newest; of equally old ones that with its own name, then a .py."""
    if len(files) == 1:
        return ChosenFile(files[0])

    def rank(path: Path) -> tuple[float, bool, bool]:
        return path.stat().st_mtime, inner[path].stem.lower() == lesson, path.suffix == ".py"

    order = sorted(files, key=lambda p: (rank(p), str(p)))
    best, rest = order[-1], order[:-1]
    if rank(best) == rank(rest[-1]):
        names = ", ".join(_shown(p, inner[p]) for p in order[-4:])
        return ChosenFile(None, problem=f"{len(files)} files are for this lesson, and equally old: {names}.")
    others = ", ".join(_shown(p, inner[p]) for p in rest[:4]) + (" and others" if rest[4:] else "")
    name = _shown(best, inner[best])
    why = "is the newest" if rank(best)[0] > rank(rest[-1])[0] else "has the lesson's name"
    if rank(best)[:2] == rank(rest[-1])[:2]:
        why = "is a .py file"
    return ChosenFile(best, (f"Duplicate: {name} {why} and was graded, not {others}.",))


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
