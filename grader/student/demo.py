"""``course demo``: every lesson's starter and solution through the whole grader, and a table at the end."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
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
from grader.referee.job import Job, Outcome, lesson_job
from grader.referee.pipeline import check, warm
from grader.reports import wording
from grader.reports.console import ratios, speed_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rich.console import Console

    from grader.backends import detect
    from grader.domain.lessons import Lesson

AT_ONCE = 6  # gradings, where there are cores for them
LAST = 12  # files at the end, of which solutions begin first and starters, which fail soon, last
PER_CORE = {"simt": 2.0, "cuda": 0.5}  # without a GPU a grading waits for its players part of the time


def run(console: Console, choice: detect.Choice) -> bool:
    """Grade all starters and solutions; True when every starter fails and every solution passes."""
    begun = time.monotonic()
    console.print(f"Back end [bold]{choice.name}[/] ({choice.why}).\n")
    table = Table(title="course demo", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("lesson", "starter", "solution", "points", "memory", "kernel*", "model*", "seconds"):
        table.add_column(heading, no_wrap=True)
    good, notes = True, set[str]()
    every = lessons.every()
    files = [(lesson, file) for lesson in every for file in (lesson.exercise, lesson.solution)]

    @functools.cache  # what several gradings say is said once
    def say(text: str) -> None:
        console.print(f"  {text}", style="dim")

    jobs = [_job(say, lesson, file, choice) for lesson, file in files]
    with graded(jobs, _order(files)) as outcomes:
        for lesson in every:
            starter = _said(console, lesson.exercise, lesson, outcomes)
            _say_why(console, starter.verdict)
            solution = _said(console, lesson.solution, lesson, outcomes)
            fine = solution.verdict.ok and not starter.verdict.ok
            if not solution.verdict.ok:
                _say_why(console, solution.verdict)
            good &= fine
            if not isinstance(found := solution.verdict.speed, NoSpeed | None):
                notes.add(speed_note(found))
            if solution.verdict.waiting:
                machine = wording.waiting_for(f.status for f in solution.verdict.findings if f.max_points)
                notes.add(f"Points after a + wait for {machine}.")
            table.add_row(*row(lesson, starter.verdict, solution.verdict), style="" if fine else "red")
    console.print()
    console.print(table)
    for note in sorted(notes):
        console.print(Text(note, style="dim"))
    end = (
        "Every starter fails and every solution passes" if good else "Not as it should be (see the red rows)"
    )
    console.print(f"{end}; {time.monotonic() - begun:.0f} s in all.")
    return good


def _job(say: Callable[[str], None], lesson: Lesson, file: Path, choice: detect.Choice) -> Job:
    job = lesson_job(lesson, read(file), choice, GradingOptions(with_prediction=True))
    return warm(replace(job, say=say))


@contextlib.contextmanager
def graded(jobs: list[Job], order: list[int]) -> Iterator[Iterator[Outcome]]:
    """What becomes of them, one after another; several at a time, of which one may read a GPU's clock.

    ``order``: the numbers of the jobs in the order in which they are begun.
    """
    name, cores = jobs[0].choice.name, os.cpu_count() or 1
    pool = ThreadPoolExecutor(max(1, min(AT_ONCE, int(cores * PER_CORE[name]))))
    begun: list[Callable[[], None]] = []
    try:
        gradings: dict[int, Future[Outcome]] = {}
        for k in order:
            gradings[k] = pool.submit(check, replace(jobs[k], reins=begun.append))
        yield (gradings[k].result() for k in range(len(jobs)))
    except BaseException:  # Ctrl-C, too: what runs ends now, and nothing else begins
        pool.shutdown(wait=False, cancel_futures=True)
        for end in begun:
            end()
        raise
    pool.shutdown()


def _order(files: list[tuple[Lesson, Path]]) -> list[int]:
    """The order to begin in: short gradings last, or a core has nothing to do while a long one ends."""
    starters = [file == lesson.exercise for lesson, file in files]
    end = range(max(0, len(files) - LAST), len(files))
    return [*range(end.start), *sorted(end, key=lambda k: (starters[k], -k))]


def _said(console: Console, file: Path, lesson: Lesson, outcomes: Iterator[Outcome]) -> Outcome:
    """The next outcome, which is this file's, once it is there and printed."""
    what = f"[bold]{lesson.name}[/] {file.name}"
    with console.status(f"grading {what}"):
        outcome = next(outcomes)
    verdict = outcome.verdict
    style = "green" if verdict.ok else "yellow"
    console.print(f"{what}: [{style}]{verdict.status}[/] {wording.points(verdict)}")
    return outcome


def _say_why(console: Console, verdict: Verdict) -> None:
    if failed := verdict.failed:
        why = Text(f"{failed[0].id}: {failed[0].message}", style="dim")
        console.print(Padding(why, (0, 0, 0, 4), expand=False))


def row(lesson: Lesson, starter: Verdict, solution: Verdict) -> list[str]:
    """A line of the table: what became of a lesson's two files."""
    memory = [_memory(v.findings) for v in (starter, solution)]
    return [
        lesson.number,
        str(starter.status),
        str(solution.status),
        _points(solution),
        memory[1],
        *ratios(solution.speed),
        f"{starter.seconds + solution.seconds:.1f}",
    ]


def _points(verdict: Verdict) -> str:
    """Those of this machine, and how many wait for another one, which is named below the table."""
    earned = f"{verdict.points}/{verdict.max_points - verdict.waiting}"
    return earned + (f" +{verdict.waiting}" if verdict.waiting else "")


def _memory(findings: tuple[Finding, ...]) -> str:
    found = next((f for f in findings if f.id == "memory"), None)
    if found is None:
        return "no kernel"
    if found.ok:
        return "clean"
    return "not run" if found.status is Status.NOT_RUN else str(found.status)
