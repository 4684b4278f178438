"""Where the student is, and what is next: what ``./course`` says when it is asked nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from grader.backends import detect
from grader.domain import lessons, workspace
from grader.domain.exercise_stage import first_open
from grader.domain.installation import COURSE
from grader.student import progress

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from grader.domain.lessons import Lesson
    from grader.student.progress import Progress

BAR = 26


def current(done: Progress, course: list[Lesson]) -> Lesson | None:
    """The first lesson that has not been passed; None when all have."""
    return next((x for x in course if not done.line(x.name).passed), None)


def bar(done: Progress, course: list[Lesson]) -> str:
    """Lessons passed of all, and points of all, with a bar."""
    passed = sum(done.line(x.name).passed for x in course)
    points = sum(min(done.line(x.name).points, x.task.max_points) for x in course)
    most = sum(x.task.max_points for x in course)
    full = round(BAR * passed / len(course)) if course else 0
    return f"{'█' * full}{'░' * (BAR - full)}  {passed}/{len(course)} lessons  {points}/{most} points"


def link(path: Path) -> Text:
    """A path as a link, which many terminals open on a click."""
    return Text(workspace.shown(path), f"bold link {path.resolve().as_uri()}")


def stage(done: Progress, lesson: Lesson) -> int | None:
    """The place of the stage that the student is at; None where all are done, or there are none."""
    line, stages = done.line(lesson.name), lesson.task.stages
    if line.passed or not stages:
        return None
    if not line.tries:
        return 0
    return first_open(stages, done.open_checks.get(lesson.name, ()))


def welcome(console: Console) -> None:
    """Who we are, where you are, which file is yours, and what to type next."""
    workspace.folder()  # says how to get one, and nothing else is said
    done, course = progress.read(), lessons.every()
    at = current(done, course)
    new = not done.lines
    console.print("[bold]Inline to Fused[/]  CUDA kernels in PyTorch, from the first one to fused models.\n")
    console.print(bar(done, course))
    if at is None:
        console.print(
            f"\nEvery lesson is passed. [bold]{COURSE} capstone[/] has problems to choose one from."
        )
        return
    line = done.line(at.name)
    console.print(f"\n{'Begin' if new else 'Go on'} with [bold]{at.number} {escape(at.task.title)}[/], "
                  f"about {at.task.minutes} minutes.")  # fmt: skip
    if (k := stage(done, at)) is not None:
        here = at.task.stages[k]
        console.print(f"Stage {k + 1} of {len(at.task.stages)}: [bold]{escape(here.title)}[/], "
                      f"about {here.minutes} minutes.")  # fmt: skip
    # Never broken, however narrow the terminal: a broken path cannot be clicked or copied.
    console.print(Text("  read  ").append_text(link(workspace.page(at))), soft_wrap=True)
    console.print(Text("  edit  ").append_text(link(workspace.place(at))), soft_wrap=True)
    how = Text("   grades it each time you save", "dim")
    console.print(Text("  then  ").append(f"{COURSE} watch", "bold").append_text(how), soft_wrap=True)
    if line.tries:
        tries = f"{line.tries} {'try' if line.tries == 1 else 'tries'}"
        console.print(
            f"\nLast best: {line.status}, {line.points}/{line.most} points after {tries}; "
            f"[bold]{COURSE} check {at.number}[/] says why."
        )
    console.print(
        f"\n[dim]Also: {COURSE} list, hint, solution, doctor; --help shows everything."
        + (f" First see the grader at work: {COURSE} demo[/]" if new else "[/]")
    )


def after(console: Console, lesson: Lesson, *, passed: bool) -> None:
    """What comes next after a check of the student's own file."""
    if not passed:
        text = Text("next  ", "dim").append(f"{COURSE} watch {lesson.number}", "bold")
        text.append(" grades on each save; ", "dim").append(f"{COURSE} hint {lesson.number}", "bold")
        console.print(text.append(" gives a little away", "dim"), soft_wrap=True)
        return
    done, course = progress.read(), lessons.every()
    console.print(Text(bar(done, course), "green"))
    following = current(done, course)
    if following is None:
        console.print(
            f"That was the last one: [bold]every lesson is passed[/]. {COURSE} progress looks back, and "
            f"{COURSE} capstone has problems to choose one from."
        )
        return
    text = Text(f"Well done. Next: {following.number} {following.task.title}  ").append_text(
        link(workspace.page(following))
    )
    console.print(text, soft_wrap=True)
    console.print(Text("      ").append(f"{COURSE} watch {following.number}", "bold"), soft_wrap=True)


def table(course: list[Lesson], done: Progress) -> Table:
    """All lessons with what has become of them."""
    at = current(done, course)
    rows = Table("", "lesson", "about", "points", "minutes", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for lesson in course:
        line = done.line(lesson.name)
        mark = "[green]✓[/]" if line.passed else "[bold]→[/]" if lesson is at else " "
        most = lesson.task.max_points
        points = f"{line.points}/{most}" if line.tries else str(most)
        if line.tries and (k := stage(done, lesson)) is not None:
            points += f", {k}/{len(lesson.task.stages)} stages"
        if line.passed and line.points < most:  # what is left can only be given on another machine
            machine = "the CPU back end" if detect.gpu_name() else "a GPU"
            points = f"{line.points} + {most - line.points} for {machine}"
        rows.add_row(
            f"{mark} {lesson.number}", lesson.name[3:], lesson.task.title, points, str(lesson.task.minutes)
        )
    return rows
