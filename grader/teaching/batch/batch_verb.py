"""What the teacher's verbs do, apart from parsing their arguments."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rich.table import Table

from grader.domain import packages
from grader.domain.errors import BadInputError
from grader.reports.row import Class
from grader.teaching.batch.batch_request import Request, settled


def batch(request: Request, *, profile: bool) -> int:
    """Grade a class and write its reports; 0, or 1 when the grader itself could not grade somebody.

    ``profile``: whether each file that passes gets a roofline and a trace.
    """
    packages.require("Grading a class", *packages.CLASS)
    from grader.teaching.batch import batch_run, class_reports, profiles
    from grader.teaching.batch.store import Store

    class_reports.known(request.formats)
    request = settled(request)
    result, store = batch_run.run(request), Store(request.out)
    if profile:
        profiles.make(store, result, request.options, lambda text: print(text, file=sys.stderr))
    _show(result, class_reports.write_class(store, result, request.formats))
    return 1 if any(row.state == "not_gradable" for row in result.rows) else 0


def report(results: Path, formats: tuple[str, ...], out: str) -> int:
    """Write reports of a folder of results or of one verdict."""
    from grader.teaching.batch import class_reports, personal

    class_reports.known(formats)
    if results.is_file():  # needs nothing that a single check does not need
        return _single(results, formats, out, personal.FORMATS)
    packages.require("Grading a class", *packages.CLASS)
    result, written = class_reports.again(results, formats)
    _show(result, written)
    return 0


def _single(path: Path, formats: tuple[str, ...], out: str, known: dict[str, Any]) -> int:
    from grader.domain.verdict import Verdict
    from grader.teaching.batch import personal, store

    if len(formats) != 1 or formats[0] not in known:
        raise BadInputError(f"For one verdict name one --format of {', '.join(known)}.")
    try:
        verdict = Verdict.from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{path} is no verdict; write one with ./course check --json FILE.") from error
    text = personal.single(verdict, formats[0])
    if out == "-":
        sys.stdout.write(text)
    else:
        store.write(Path(out), text)
    return 0


def _show(result: Class, written: list[Path]) -> None:
    """A line a lesson, what the teacher must look at, and where the reports are."""
    from grader.reports.console import screen

    console = screen()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for head in ("lesson", "rows", "passed", "mean points", "open", "missing", "refused", "not gradable"):
        table.add_column(head, justify="left" if head == "lesson" else "right")
    for lesson in result.lessons:
        rows = [r for r in result.rows if r.lesson == lesson.name]
        states = Counter(r.state for r in rows)
        graded = [r.points for r in rows if r.state == "graded"]
        mean = f"{sum(graded) / len(graded):.1f}/{lesson.max_points}" if graded else "-"
        table.add_row(
            lesson.name, str(len(rows)), str(sum(r.passed for r in rows)), mean,
            str(sum(r.open for r in rows)), str(states["missing"]), str(states["refused"]),
            str(states["not_gradable"]),
        )  # fmt: skip
    console.print(table)
    for row in [r for r in result.rows if r.state in ("refused", "not_gradable")][:12]:
        console.print(
            f"  {row.student}: {row.state.replace('_', ' ')}: {row.first}", style="yellow", markup=False
        )
    for path in written:
        console.print(f"  {path}", style="dim", markup=False)
