"""``course demo``: every lesson's starter and solution through the whole grader, and a table at the end."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.speed import NoSpeed
from grader.domain.submission import read
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee.job import Outcome, lesson_job
from grader.referee.pipeline import check, warm
from grader.reports import wording
from grader.reports.console import ratios, speed_note

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from grader.backends import detect
    from grader.domain.lessons import Lesson


def run(console: Console, choice: detect.Choice) -> bool:
    """Grade all starters and solutions; True when every starter fails and every solution passes."""
    begun = time.monotonic()
    console.print(f"Back end [bold]{choice.name}[/] ({choice.why}).\n")
    table = Table(title="course demo", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("lesson", "starter", "solution", "points", "memory", "kernel*", "model*", "seconds"):
        table.add_column(heading, no_wrap=True)
    good, notes = True, set[str]()
    for lesson in lessons.every():
        starter = _grade(console, lesson, lesson.exercise, choice)
        _say_why(console, starter.verdict)
        solution = _grade(console, lesson, lesson.solution, choice)
        fine = solution.verdict.ok and not starter.verdict.ok
        if not solution.verdict.ok:
            _say_why(console, solution.verdict)
        good &= fine
        if not isinstance(found := solution.verdict.speed, NoSpeed | None):
            notes.add(speed_note(found))
        table.add_row(*_row(lesson, starter.verdict, solution.verdict), style="" if fine else "red")
    console.print()
    console.print(table)
    for note in sorted(notes):
        console.print(Text(note, style="dim"))
    end = (
        "Every starter fails and every solution passes" if good else "Not as it should be (see the red rows)"
    )
    console.print(f"{end}; {time.monotonic() - begun:.0f} s in all.")
    return good


def _grade(console: Console, lesson: Lesson, file: Path, choice: detect.Choice) -> Outcome:
    what = f"[bold]{lesson.name}[/] {file.name}"
    with console.status(f"grading {what}"):
        say: Callable[[str], None] = lambda text: console.print(f"  {text}", style="dim")  # noqa: E731
        job = lesson_job(lesson, read(file), choice, GradingOptions(with_prediction=True))
        outcome = check(warm(replace(job, say=say)))
    verdict = outcome.verdict
    style = "green" if verdict.ok else "yellow"
    console.print(f"{what}: [{style}]{verdict.status}[/] {wording.points(verdict)}")
    return outcome


def _say_why(console: Console, verdict: Verdict) -> None:
    if failed := verdict.failed:
        why = Text(f"{failed[0].id}: {failed[0].message}", style="dim")
        console.print(Padding(why, (0, 0, 0, 4), expand=False))


def _row(lesson: Lesson, starter: Verdict, solution: Verdict) -> list[str]:
    memory = [_memory(v.findings) for v in (starter, solution)]
    return [
        lesson.number,
        str(starter.status),
        str(solution.status),
        wording.scored(solution.points, solution.max_points, solution.waiting).replace(" points", ""),
        memory[1],
        *ratios(solution.speed),
        f"{starter.seconds + solution.seconds:.1f}",
    ]


def _memory(findings: tuple[Finding, ...]) -> str:
    found = next((f for f in findings if f.id == "memory"), None)
    if found is None:
        return "no kernel"
    if found.ok:
        return "clean"
    return "not run" if found.status is Status.NOT_RUN else str(found.status)
