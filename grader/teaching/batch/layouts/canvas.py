"""Canvas: "Download submissions" gives ``doejane_LATE_1234_56789_exercise-1.py``, all in one folder.

The names are those of Canvas' ``lib/content_zipper.rb``: the sortable name in small letters (an underscore in
it stays), LATE, the user's number, then for each file its own number and name; a text typed into Canvas ends
with ``_text.html``, an address with ``_link.html``. Anonymous: ``anon_`` and five letters or digits.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from grader.teaching.batch.student_files import HandIn

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = re.compile(
    r"(?:(?P<anon_late>LATE_)?anon_(?P<anon>[A-Za-z0-9]+)|(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+))"
    r"_(?:(?P<number>\d+)_(?P<file>.+)|(?P<typed>text|link)\.html)"
)


def fits(folder: Path) -> bool:
    """Whether most files have such names."""
    files = [p.name for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")]
    return bool(files) and 2 * sum(bool(FILE.fullmatch(name)) for name in files) > len(files)


def read(folder: Path, _: list[str]) -> Iterator[HandIn]:
    """One entry a user; of a name that was handed in again (``-1``, ``-2``) the last counts."""
    users: dict[str, list[tuple[re.Match[str], Path]]] = {}
    for path in sorted(folder.iterdir()):
        if (match := FILE.fullmatch(path.name)) and (path.is_symlink() or path.is_file()):
            users.setdefault(match["user"] or f"anon_{match['anon']}", []).append((match, path))
    for user, given in users.items():
        late = any(m["late"] or m["anon_late"] for m, _ in given)
        last: dict[str, tuple[int, int, Path]] = {}
        for match, path in given:
            own, version = _version(match["file"] or f"{match['typed']}.html")
            this = (version, int(match["number"] or 0), path)
            last[own] = max(last.get(own, this), this)
        files = tuple((path, Path(own)) for own, (_, _, path) in last.items())
        counted = {path for path, _ in files}
        older = tuple(path for _, path in given if path not in counted)
        versions = "An earlier version" if len(older) == 1 else f"{len(older)} earlier versions"
        notes = (f"{versions} of a file {'was' if len(older) == 1 else 'were'} left out.",) if older else ()
        ids = {} if given[0][0]["anon"] else {"canvas": user}
        yield HandIn(user, files, given[0][0]["name"] or "", ids=ids, late=late, notes=notes, older=older)


def _version(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"(.+?)(?:-(\d{1,3}))?(\.\w+)", name)
    return (match[1] + match[3], int(match[2] or 0)) if match else (name, 0)
