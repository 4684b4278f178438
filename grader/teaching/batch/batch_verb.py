"""What the teacher's verbs do, apart from parsing their arguments."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grader.domain import lessons, packages, submission
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.plural import plural
from grader.reports import formats
from grader.teaching.batch.batch_request import Request, settled

if TYPE_CHECKING:
    from pathlib import Path

    from grader.reports.row import Class


def batch(request: Request, *, profile: bool, replay: bool = False) -> int:
    """Grade a class and write its reports; 0, or 1 when the grader itself could not grade somebody.

    ``profile``: whether each file that passes gets a roofline and a trace; ``replay``: whether each that
    failed in a kernel gets a page that plays it.
    """
    packages.require("Grading a class", *packages.CLASS)
    from grader.teaching.batch import batch_run, profiles, replays, report_files
    from grader.teaching.batch.results_folder import ResultsFolder

    formats.require_known(request.formats)
    request = settled(request)
    result, results = batch_run.run(request), ResultsFolder(request.out)
    if profile:
        profiles.make(results, result, request.options, lambda text: print(text, file=sys.stderr))
    if replay:
        replays.make(results, result, request.options, lambda text: print(text, file=sys.stderr))
    _show(result, report_files.write_class(results, result, request.formats))
    return 1 if any(row.state == "not_gradable" for row in result.rows) else 0


def show_files(request: Request) -> int:
    """Print what would become of every file, and grade nothing; 0, or 1 when a person has to look at one."""
    packages.require("Grading a class", *packages.CLASS)
    import tempfile
    from pathlib import Path

    from grader.reports.console import screen
    from grader.teaching.batch import batch_run, file_fates, overrides
    from grader.teaching.batch.results_folder import ResultsFolder

    with tempfile.TemporaryDirectory() as room:
        request = settled(request)
        found = batch_run.handed_in(request, ResultsFolder(Path(room)))
        unread: dict[str, str] = {}
        for path, name in found.places.items():
            try:
                submission.content(Path(path))
            except BadInputError as error:
                unread[name] = str(error).replace(path, Path(path).name)
    found = replace(found, fates=file_fates.refused(found.fates, unread))
    console, table = screen(), Table(title=f"layout: {found.layout}", title_justify="left", box=None)
    known = {found.places[str(x.path)]: x for x in found.files if str(x.path) in found.places}
    names = {x.student: x.name for x in found.files}
    named = any(names.values())
    for head in ("student", *(["name"] if named else []), "lesson", "file", "what becomes of it"):
        table.add_column(head, overflow="fold")

    def person(student: str, file: str = "") -> list[str]:
        """The student, as the class list calls the one whose file is graded, and the name if any is known."""
        who = known[file].student if file in known else student
        return [who or "?", *([names.get(who, "")] if named else [])]

    for fate in sorted(found.fates, key=lambda f: (f.student, f.lesson, f.file)):
        cells = [
            Text(word) for word in (*person(fate.student, fate.file), fate.lesson[:2], fate.file, fate.what)
        ]
        table.add_row(*cells, style="yellow" if fate.look else None)
    for one in found.files:
        if one.path is None:
            table.add_row(
                *map(Text, (*person(one.student), one.lesson[:2], "-", one.problem or one.missing)),
                style="yellow" if one.problem or one.held else None,
            )
    console.print(table)
    wanted = [lessons.find(word) for word in request.lessons]
    given = overrides.read(request.out / overrides.NAME, [x.name for x in wanted])
    for text in (
        *batch_run.warnings(found, request),
        *given.above({x.name: x.task.max_points for x in wanted}),
    ):
        console.print(text, markup=False)
    return 1 if any(fate.look for fate in found.fates) else 0


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
        raise BadInputError(f"{path} is not a verdict; write one with {COURSE} check --json FILE.") from error
    formats.put(formats.single(verdict, wanted[0]), out)
    return 0


def _show(result: Class, written: list[Path]) -> None:
    """A line a lesson, what the teacher must look at, and where the reports are."""
    from grader.reports.console import screen

    console = screen()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for head in (
        "lesson",
        "rows",
        "passed",
        "mean points, of rows",
        "open",
        "missing",
        "refused",
        "unclear",
        "not gradable",
    ):
        table.add_column(head, justify="left" if head == "lesson" else "right")
    for lesson in result.lessons:
        rows = [r for r in result.rows if r.lesson == lesson.name]
        states = Counter(r.state for r in rows)
        counted = [r.points for r in rows if r.counted]
        mean = f"{sum(counted) / len(counted):.1f}/{lesson.max_points} of {len(counted)}" if counted else "-"
        table.add_row(
            lesson.name, str(len(rows)), str(sum(r.passed for r in rows)), mean,
            str(sum(r.open for r in rows)), str(states["missing"]), str(states["refused"]),
            str(states["unclear"]), str(states["not_gradable"]),
        )  # fmt: skip
    console.print(table)
    look = [r for r in result.rows if r.state in ("refused", "unclear", "not_gradable")]
    for row in look[:12]:
        console.print(
            f"  {row.student}: {row.state.replace('_', ' ')}: {row.first}", style="yellow", markup=False
        )
    if look[12:]:
        console.print(f"  and {len(look) - 12} more; the class report has all.", style="yellow")
    if without := sum(r.grade is None and not r.excused for r in result.rows):
        console.print(
            f"  {without} of {plural(len(result.rows), 'row')} without a grade in files for gradebooks; "
            "--final says which of missing, refused and open are to count.", style="yellow", markup=False,
        )  # fmt: skip
    for text in result.facts.get("overrides", "").splitlines():
        console.print(f"  {text}", style="yellow", markup=False)
    for path in written:
        console.print(f"  {path}", style="dim", markup=False)
