"""What becomes of every file that lies in the folder of submissions: graded, or why not."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.domain.errors import BadInputError
from grader.reports.row import FileFate
from grader.teaching.batch import unpack
from grader.teaching.batch.student_files import (
    LOG,
    SOURCES,
    ChosenFile,
    HandIn,
    StudentFile,
    aside,
    below,
    choose_file,
    spoken,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = {".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", *unpack.READABLE, *unpack.OTHERS}


@dataclass(frozen=True, slots=True)
class Claimed:
    """The entries of one student, and what becomes of each of their files.

    ``places``: of each file that is to be graded the name that its fate has, by its path.
    """

    entries: tuple[StudentFile, ...]
    fates: tuple[FileFate, ...]
    places: dict[str, str]


@dataclass(slots=True)
class _Sorted:
    """One student's files: sources with their names, all others, and what of them each was handed in as.

    ``logs``: of their own tries, with the names that they gave them. ``hidden``: what lies aside.
    """

    sources: dict[Path, Path]
    given: dict[Path, Path]
    others: list[tuple[Path, Path, str]]
    notes: list[str]
    logs: dict[Path, Path]
    hidden: dict[Path, Path]


def claim(one: HandIn, lessons: list[str], known: list[str], folder: Path, room: Path) -> Claimed:
    """One entry a lesson, and a fate for each file. Archives are unpacked below ``room``.

    ``known``: all lessons of the course, so that a file for another one is not taken for this one.
    """
    found = _sorted(one, room)
    entries, chosen = [], dict[Path, str]()
    log = max(found.logs, key=lambda path: path.stat().st_size, default=None)  # it only ever grows
    named = {path: spoken(inner, known) for path, inner in found.sources.items()}
    for lesson in lessons:
        choice = _choice(one, found, lesson, named, several=len(lessons) > 1)
        if choice.path is not None:
            chosen[choice.path] = lesson
        entries.append(
            StudentFile(
                one.student, lesson, choice.path, one.name, one.email, when=one.when, late=one.late,
                notes=(*one.notes, *found.notes, *choice.notes), problem=choice.problem,
                missing=choice.missing, ids=one.ids,
                given=found.given.get(choice.path) if choice.path else None, log=log,
            )
        )  # fmt: skip
    beside = [_name(found, path) for path in found.sources if path not in chosen and not named[path]]
    if chosen and beside:  # a file that the submission imports, perhaps
        more = f" and {len(beside) - 4} more" if beside[4:] else ""
        note = f"Also handed in, and not graded: {', '.join(beside[:4])}{more}."
        entries = [replace(e, notes=(*e.notes, note)) if e.path else e for e in entries]
    fates = []
    for path, inner in found.sources.items():
        lesson = chosen.get(path, "") or named[path]
        what, look = _fate_of_source(path, lesson, chosen, lessons)
        fates.append(_fate(_shown(path, inner, found, folder), one.student, lesson, what, look=look))
    for path, inner in found.logs.items():
        what = "the student's own log of tries" if path == log else "not read: a longer log of tries is there"
        fates.append(_fate(_shown(path, inner, found, folder), one.student, "", what, look=False))
    older = "not graded: an earlier version"
    fates += [_fate(_relative(path, folder), one.student, "", older, look=False) for path in one.older]
    for path, inner, what in found.others:
        look = not chosen or inner.suffix.lower() in CODE
        fates.append(_fate(_shown(path, inner, found, folder), one.student, "", what, look=look))
    for path, inner in found.hidden.items():
        look = not found.sources and not found.others
        fates.append(_fate(_shown(path, inner, found, folder), one.student, "", ASIDE, look=look))
    places = {str(path): _shown(path, found.sources[path], found, folder) for path in chosen}
    return Claimed(tuple(entries), tuple(fates), places)


def refused(fates: tuple[FileFate, ...], why: dict[str, str]) -> tuple[FileFate, ...]:
    """The same fates; of files that cannot be read, by their names in ``why``, it says so."""
    return tuple(
        replace(f, what=f"refused: {why[f.file]}", look=True) if f.file in why and f.what == "graded" else f
        for f in fates
    )


def _name(found: _Sorted, path: Path) -> str:
    return disk.legible(found.sources[path].name)


def _choice(one: HandIn, found: _Sorted, lesson: str, named: dict[Path, str], *, several: bool) -> ChosenFile:
    if found.sources:
        return choose_file(found.sources, lesson, named, others=bool(found.others), several=several)
    if found.others:
        given = list(dict.fromkeys(disk.legible(found.given[path].name) for path, _, _ in found.others))
        names, more = ", ".join(given[:4]), f" and {len(given) - 4} more" if given[4:] else ""
        links = all(what == LINK for _, _, what in found.others)
        why = "only links" if links else found.others[0][2].removesuffix(".")
        return ChosenFile(None, problem=f"There is no .py or .ipynb file; {names}{more}: {why}.")
    if found.hidden:
        names = ", ".join(disk.legible(path.name) for path in list(found.hidden)[:4])
        return ChosenFile(None, problem=f"There is no .py or .ipynb file; only what is hidden: {names}.")
    if one.lost:
        return ChosenFile(None, problem=one.notes[-1])
    return ChosenFile(None, missing="Nothing was handed in.")


LINK = "A link, which is not followed."
ASIDE = "left alone: not a student's file"


def _sorted(one: HandIn, room: Path) -> _Sorted:
    found = _Sorted({}, {}, [], [], {}, {})
    for path, inner in one.files:
        _sort(path, inner, path, found, room)
    code = [disk.legible(path.name) for path, inner, _ in found.others if inner.suffix.lower() in CODE]
    if found.sources and code:
        found.notes.append(f"Also handed in, and not graded: {', '.join(code)}.")
    return found


def _sort(path: Path, inner: Path, given: Path, found: _Sorted, room: Path) -> None:
    """Where a file belongs; of an archive each file in it, and archives in archives are left as they are."""
    ending = unpack.suffix(path)
    found.given[path] = given
    if aside(path.name):
        found.hidden[path] = inner
    elif path.is_symlink():
        found.others.append((path, inner, unpack.left_out(path) or LINK))
    elif not path.is_file():
        found.others.append((path, inner, "No ordinary file."))
    elif path.suffix.lower() in SOURCES:
        found.sources[path] = inner
    elif LOG.fullmatch(inner.name):
        found.logs[path] = inner
    elif ending in unpack.READABLE and path == given:
        into = room / hashlib.sha256(str(path.resolve()).encode(errors="surrogateescape")).hexdigest()[:16]
        before, place = len(found.sources), len(found.others)
        try:
            left_out = unpack.unpack(path, into, files=500, in_all=unpack.MOST_BYTES_OF_ARCHIVE)
        except BadInputError as error:
            found.others.append((path, inner, str(error)))
            return
        for member, name in below(into):
            _sort(member, inner.with_suffix("") / name, given, found, room)
        if left_out or len(found.sources) == before:
            what = " ".join(left_out) or "No .py or .ipynb file is in it."
            found.others.insert(place, (path, inner, what))
    elif ending in unpack.READABLE:
        found.others.append((path, inner, "An archive in an archive, which is not opened; ask for the file."))
    elif ending:
        found.others.append((path, inner, f"A {ending} archive, which is not opened here; ask for a .zip."))
    else:
        found.others.append((path, inner, "It is no .py or .ipynb file."))


def _fate_of_source(path: Path, lesson: str, chosen: dict[Path, str], lessons: list[str]) -> tuple[str, bool]:
    """What becomes of a source file, and whether a person has to look."""
    if path in chosen:
        return "graded", False
    if lesson and lesson not in lessons:
        return "for another lesson", False
    if lesson:
        return "not graded: another file for this lesson is newer", False
    return "not graded: its name speaks of no lesson", len(chosen) < len(lessons)


def nobodys(folder: Path, handed: list[HandIn], nowhere: dict[str, str]) -> Iterator[FileFate]:
    """Fates of the files that the layout gives to no student: a person has to look, but for systems' own.

    ``nowhere``: members of the class's archive that could not be unpacked, and why.
    """
    for name, why in nowhere.items():
        yield _fate(name, "", "", f"whose it is cannot be told: {why}", look=True)
    owned = {path for one in handed for path in (*(path for path, _ in one.files), *one.older)}
    for path in sorted(folder.iterdir()):
        if aside(path.name):
            yield _fate(_relative(path, folder), "", "", ASIDE, look=False)
            continue
        inside = [p for p, _ in below(path)] if path.is_dir() and not path.is_symlink() else [path]
        for inner in inside:
            if inner not in owned:
                what = "whose it is cannot be told from its name"
                yield _fate(_relative(inner, folder), "", "", what, look=True)


def _shown(path: Path, inner: Path, found: _Sorted, folder: Path) -> str:
    """A file's name as the table has it; one of an archive stands after the archive's."""
    given = found.given[path]
    if given == path:
        return _relative(path, folder)
    return f"{_relative(given, folder)}: {disk.legible(str(Path(*inner.parts[1:])))}"


def _relative(path: Path, folder: Path) -> str:
    return disk.legible(str(path).removeprefix(f"{folder}{os.sep}"))


def _fate(file: str, student: str, lesson: str, what: str, *, look: bool) -> FileFate:
    return FileFate(file, disk.legible(student), lesson, disk.legible(what), look)
