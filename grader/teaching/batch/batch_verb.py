"""What the teacher's verbs do, apart from parsing their arguments."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from grader.backends import detect as back_ends
from grader.domain import lessons, packages
from grader.domain.errors import BadInputError
from grader.reports import formats

if TYPE_CHECKING:
    from grader.reports.row import Class


def batch(submissions: Path, wanted: tuple[str, ...], out: Path, **options: Any) -> int:
    """Grade a class and write its reports; 0, or 1 when the grader itself could not grade somebody."""
    packages.require("Grading a class", *packages.CLASS)
    from grader.teaching.batch import batch_run, late_policy, profiles, report_files
    from grader.teaching.batch.results_folder import ResultsFolder

    wanted_formats: tuple[str, ...] = options["formats"]
    formats.require_known(wanted_formats)
    private = lessons.course_root() / "tasks_private"
    hidden = options.pop("hidden") or (private if private.is_dir() else None)
    if options["scheduler"] and options["backend"] == "auto":
        raise BadInputError("With --scheduler say which back end its workers have: --backend cuda or simt.")
    choice, profile = options.pop("backend"), options.pop("profile")
    if not options["scheduler"]:
        choice = back_ends.choose(choice).name
    policy = late_policy.parse(options.pop("due"), options.pop("late"), options.pop("grace"))
    names = tuple(lessons.names()) if "all" in wanted else wanted
    request = batch_run.Request(submissions, out, names, choice, hidden=hidden, policy=policy, **options)
    result = batch_run.run(request)
    if profile:
        profiles.make(
            ResultsFolder(out), result, choice, request.sandbox, lambda text: print(text, file=sys.stderr)
        )
    written = report_files.write_class(ResultsFolder(out), result, wanted_formats)
    _show(result, written)
    return 1 if any(row.state == "not_gradable" for row in result.rows) else 0


def report(results: Path, wanted: tuple[str, ...], out: str) -> int:
    """Write reports of a folder of results or of one verdict."""
    formats.require_known(wanted)
    if results.is_file():  # needs nothing that a single check does not need
        return _single(results, wanted, out)
    packages.require("Grading a class", *packages.CLASS)
    from grader.teaching.batch import report_files

    result, written = report_files.write_again(results, wanted)
    _show(result, written)
    return 0


def _single(path: Path, wanted: tuple[str, ...], out: str) -> int:
    from grader.domain.verdict import Verdict

    if len(wanted) != 1:
        raise BadInputError(f"For one verdict name one --format of {formats.names()}.")
    try:
        verdict = Verdict.from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} is not a verdict; write one with ./course check --json FILE.") from error
    formats.put(formats.single(verdict, wanted[0]), out)
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
