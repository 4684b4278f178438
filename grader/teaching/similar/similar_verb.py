"""``course similar``: a ranked list of pairs that a person may want to look at."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from grader.domain import disk, lessons, packages, submission
from grader.domain.errors import BadInputError
from grader.teaching.similar import fingerprint_tokens, winnow

if TYPE_CHECKING:
    from grader.teaching.similar.winnow import Pair, Prints

NOTE = (
    "Alike is not copied: small exercises have few right answers. Names, numbers, comments and the order of "
    "functions were ignored; the lesson's own code was left out. Look at the lines before you say anything."
)


def run(submissions: Path, wanted: tuple[str, ...], layout: str, least: float, out: Path | None) -> int:
    """Print the list, and write it as JSON if asked to. Always 0: nothing here is a verdict."""
    packages.require("Comparing a class", *packages.CLASS)
    from grader.teaching.batch import unpack

    with tempfile.TemporaryDirectory() as room:
        return _run(
            unpack.as_folder(submissions, Path(room)), Path(room) / "students", wanted, layout, least, out
        )


def _run(
    folder: Path, room: Path, wanted: tuple[str, ...], layout: str, least: float, out: Path | None
) -> int:
    from grader.reports.console import screen
    from grader.teaching.batch import layouts

    found: dict[str, list[Pair]] = {}
    console = screen()
    for word in wanted:
        lesson = lessons.find(word)
        handed = layouts.read(folder, [lesson.name], lessons.names(), room, layout).files
        files: dict[str, Prints] = {}
        for one in handed:
            if one.path is not None:
                try:
                    files[one.student] = winnow.prints(
                        fingerprint_tokens.tokens(submission.read(one.path).source)
                    )
                except BadInputError as error:
                    console.print(f"left out: {error}", style="dim", markup=False)
        # What the course hands out is nobody's: the starter, and the solution's page once it is shown.
        given = [lesson.exercise, lesson.reference, lesson.folder / "task.py"]
        starters = [
            winnow.prints(fingerprint_tokens.tokens(p.read_text("utf-8"))) for p in given if p.exists()
        ]
        found[lesson.name] = winnow.pairs(files, starters, least)
        console.print(_table(lesson.name, len(files), found[lesson.name]))
    console.print(NOTE, style="dim")
    if out is not None:
        data = {"note": NOTE, "pairs": {name: [asdict(p) for p in pairs] for name, pairs in found.items()}}
        disk.write(out, json.dumps(data, indent=1) + "\n")
    return 0


def _table(lesson: str, count: int, found: list[Pair]) -> Table:
    table = Table(title=f"{lesson}: {len(found)} pairs of {count} files", title_justify="left", box=None)
    for head in ("share", "first", "second", "lines"):
        table.add_column(head, justify="right" if head == "share" else "left")
    for pair in found[:50]:
        lines = ", ".join(f"{a}-{b} / {c}-{d}" for a, b, c, d in pair.lines)
        table.add_row(f"{pair.share:.0%}", pair.first, pair.second, lines)
    return table
