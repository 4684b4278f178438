"""``course tries``: a log of the student's own tries, kept only once they have agreed.

What is in it: :mod:`grader.domain.try_log`.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grader.domain import disk, try_log, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.try_log import LogLine
from grader.reports.console import screen

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.verdict import Verdict

WORDS = ("", "agree", "stop", "delete")
KEPT = (
    "Each grading of your own file adds a line to {file}: the time (UTC), the lesson, and the names of the "
    "checks that it did not pass. Nothing of your code is in it, and it is sent nowhere. Your teacher sees "
    "it only if you hand the file in with your work; it changes no points."
)


def run(word: str) -> None:
    """Agree to the log, take that back, delete it, or show what it says; BadInputError for another word."""
    if word not in WORDS:
        raise BadInputError(f"{word!r} is none of {', '.join(WORDS[1:])}.")
    file, shown = path(), workspace.shown(path())
    agreed = try_log.read(file).agreed
    if word == "delete":
        file.unlink(missing_ok=True)
        print("There is no log of your tries now, and none is kept.")
    elif word == "agree":
        if not agreed:
            _append(LogLine(_now(), agreed=True))
        print(
            f"{KEPT.format(file=shown)}\n{COURSE} tries stop ends it, {COURSE} tries delete removes the file."
        )
    elif word == "stop":
        if agreed:
            _append(LogLine(_now(), agreed=False))
        print(f"No more tries are logged. {COURSE} tries delete removes what was.")
    else:
        _show(file, shown, agreed=agreed)


def path() -> Path:
    """Where it is kept."""
    return workspace.folder() / try_log.NAME


def note(verdict: Verdict) -> None:
    """Add a try, if the student has agreed. A log that cannot be written costs nobody a verdict."""
    try:
        if try_log.read(path()).agreed:
            left = tuple(name[:120] for name in verdict.left[:100])
            _append(LogLine(_now(), verdict.lesson, left))
    except (OSError, BadInputError):
        return


def _append(line: LogLine) -> None:
    """One line in one write, as long as there is room; a last line without an end is ended first."""
    file, data = path(), line.text()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else b""
        if before and not before.endswith(b"\n"):
            data = b"\n" + data
        if len(data) > try_log.MOST_LINE or len(before) + len(data) > try_log.MOST_BYTES:
            raise BadInputError(f"{disk.legible(str(file))} is full; {COURSE} tries delete begins a new one.")
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)
    except OSError as error:
        raise BadInputError(f"{disk.legible(str(file))} cannot be written: {error.strerror}.") from error


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _show(file: Path, shown: str, *, agreed: bool) -> None:
    log, console = try_log.read(file), screen()
    if not file.exists():
        print(f"No log of your tries is kept. {COURSE} tries agree begins one. {KEPT.format(file=shown)}")
        return
    print(f"{shown} is {'kept' if agreed else 'not added to any more'}. {KEPT.format(file=shown)}")
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for head in ("lesson", "tries", "minutes", "most often not passed"):
        table.add_column(head, justify="right" if head in ("tries", "minutes") else "left")
    for name, one in sorted(try_log.by_lesson(log.lines).items()):
        most = ", ".join(f"{check} ({n})" for check, n in one.failed.most_common(3))
        table.add_row(name, str(one.tries), f"{one.seconds / 60:.0f}", Text(disk.legible(most)))
    console.print(table)
