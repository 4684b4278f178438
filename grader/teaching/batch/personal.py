"""A student's own files: written the moment the grading is over, so that none waits for the whole class."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from grader.domain.verdict import Verdict
from grader.reports import classroom50, console, exercism, gradescope, markdown, prairielearn
from grader.reports.row import Row
from grader.teaching.batch.store import Store
from grader.teaching.batch.store import write as put

Writer = Callable[[Row, Verdict], str]
# What a platform reads, and the name that it wants its file to have.
FORMATS: dict[str, tuple[str, Writer]] = {
    "gradescope": ("gradescope/results.json", gradescope.text),
    "classroom50": ("classroom50/result.json", classroom50.text),
    "prairielearn": ("prairielearn/results.json", prairielearn.text),
    "exercism": ("exercism/results.json", exercism.text),
}


def write(store: Store, row: Row, verdict: Verdict, formats: tuple[str, ...] = ()) -> None:
    """``verdict.json``, ``log.txt``, ``report.md`` and ``report.html``, and the platforms' files."""
    from grader.reports import html_page

    folder = store.student(row.student, row.lesson)
    put(folder / "verdict.json", json.dumps(verdict.as_json(), indent=1, allow_nan=False) + "\n")
    put(folder / "log.txt", log(verdict))
    put(folder / "report.md", markdown.text(row, verdict))
    put(
        folder / "report.html",
        html_page.text(row, verdict, profile=(folder / "profile" / "roofline.png").exists()),
    )
    for name in formats:
        if name in FORMATS:
            file, writer = FORMATS[name]
            put(folder / file, writer(row, verdict) + "\n")


def log(verdict: Verdict) -> str:
    """What ``course check`` would have printed."""
    out = io.StringIO()
    console.show(Console(file=out, width=100, highlight=False), verdict, "batch", [])
    return out.getvalue()


def single(verdict: Verdict, name: str, student: str = "") -> str:
    """One platform's file for a single verdict, as an autograder there wants it."""
    from grader.reports.row import row_of

    return FORMATS[name][1](row_of(verdict, student or Path(verdict.submission).stem), verdict) + "\n"
