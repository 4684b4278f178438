"""``course start DIR``: every exercise and notebook in a folder of the student's, and a marker to find it by.

The marker lists what was laid out, by content: a later start brings a file up to date that is still as it was
laid out, and leaves one alone that the student has changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk, lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import ABOVE, COURSE, from_wheel
from grader.domain.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """\
# Your files of the course Inline to Fused, version {version}: by this file the course finds the folder.
# Below stands what was laid out, by content, so that a file that you have changed is never written over.
"""
LINE = re.compile(r"^([0-9a-f]{64})  (\S+)$", re.M)


@dataclass(frozen=True, slots=True)
class Laid:
    """What became of the files: how many are new, brought up to date, and left as the student has them."""

    new: int = 0
    updated: int = 0
    kept: tuple[str, ...] = ()


def run(folder: Path) -> int:
    """Lay the course out, and say what comes next; 0."""
    laid = lay_out(folder)
    kept = len(laid.kept)
    said = [f"{laid.new} {'file is' if laid.new == 1 else 'files are'} new"] if laid.new else []
    said += (
        [f"{laid.updated} {'was' if laid.updated == 1 else 'were'} brought up to date"]
        if laid.updated
        else []
    )
    said += (
        ["1 is yours and stays as it is" if kept == 1 else f"{kept} are yours and stay as they are"]
        if kept
        else []
    )
    where = workspace.shown(folder.resolve())
    print(f"Exercises and notebooks of {len(lessons.names())} lessons are in {where}"
          f"{': ' if said else ', all as before'}{', '.join(said)}.")  # fmt: skip
    print("\nNext:")
    if folder.resolve() != Path.cwd().resolve():
        print(f"  cd {shlex.quote(where)}")
    course = _typed_in(folder)
    print(f"  {course} doctor     what this machine has, what it lacks and how to get it")
    print(f"  {course} watch 01   grades 01_hello_inline.py each time you save it")
    if from_wheel():
        print(f"\nWhere a page of the course says ./course, type {COURSE}; work/ is this folder.")
    return 0


def _typed_in(folder: Path) -> str:
    """The command as it is typed in ``folder``: a clone's lies in the clone alone."""
    if from_wheel() or folder.resolve() == ABOVE:
        return COURSE
    return shlex.quote(os.path.relpath(ABOVE / "course", folder.resolve()))


def lay_out(folder: Path) -> Laid:
    """Every lesson's starter and notebook in ``folder``, which is made. BadInputError if it cannot be."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise BadInputError(f"{folder} is not a folder; name one, or a place where none is yet.")
    marker = folder / workspace.MARKER
    before = _before(marker)
    now, new, updated, kept = dict(before), 0, 0, []
    began = time.time()
    for name, content in _files():
        place = folder / name
        digest = hashlib.sha256(content).hexdigest()
        there = _content(place)
        if there is not None and hashlib.sha256(there).hexdigest() not in (digest, before.get(name)):
            kept.append(name)
            continue
        new, updated = new + (there is None), updated + (there not in (None, content))
        disk.write(place, content)
        if there != content:  # as old as each other: `import exercise` takes the file that was saved last
            os.utime(place, (began, began))
        now[name] = digest
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(now.items()))
    disk.write(marker, HEAD.format(version=__version__) + lines)
    return Laid(new, updated, tuple(kept))


def _files() -> Iterator[tuple[str, bytes]]:
    """(name, content) of what is laid out."""
    for lesson in lessons.every():
        yield f"{lesson.name}.py", lesson.exercise.read_bytes()
        book = lesson.folder / "lesson.ipynb"
        if book.is_file():
            yield f"{lesson.name}.ipynb", book.read_bytes()


def _before(marker: Path) -> dict[str, str]:
    """What an earlier start laid out: digests by name."""
    content = _content(marker)
    text = content.decode("utf-8", "replace") if content else ""
    return {name: digest for digest, name in LINE.findall(text)}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}.") from error
