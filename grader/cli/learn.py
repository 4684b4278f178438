"""The student's verbs, one short function each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

Lesson = Annotated[str, typer.Argument(help="A lesson (07); left out: the one you are at.")]
Named = Annotated[str, typer.Argument(help="A lesson (07).")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    for name, verb in VERBS.items():
        app.command(name)(verb)


def list_lessons() -> None:
    """List the lessons, what each is about, and how far you are."""
    from grader.domain import lessons
    from grader.reports.console import screen
    from grader.student import progress
    from grader.student.loop import guide

    screen().print(guide.table(lessons.every(), progress.read()))


def watch(
    lesson: Lesson = "",
    backend: Annotated[
        str, typer.Option("--backend", help="auto, cuda (a GPU) or simt (this CPU).")
    ] = "auto",
    sandbox: Annotated[str, typer.Option("--sandbox", help="auto, strict or off.")] = "auto",
) -> None:
    """Grade your file each time you save it, with hints and the next lesson at a key."""
    from grader.student.loop.watch import run

    run(lesson, backend, sandbox)


def hint(
    lesson: Lesson = "",
    level: Annotated[int | None, typer.Option(help="Which one, from 1; left out: the next.")] = None,
) -> None:
    """Open the next hint: first the idea, then the place, then the shape of the code."""
    from grader.student.loop import learn_verbs

    learn_verbs.hint(lesson, level)


def following() -> None:
    """Say which lesson is next, and lay its file out."""
    from grader.student.loop import learn_verbs

    learn_verbs.following()


def reset(lesson: Named, yes: Yes = False) -> None:
    """Lay a lesson's starter out again; your file is kept as a backup."""
    from grader.student.loop import learn_verbs

    raise typer.Exit(learn_verbs.reset(lesson, yes))


def solution(
    lesson: Lesson = "",
    yes: Yes = False,
    diff: Annotated[bool, typer.Option("--diff", help="How your file differs from it.")] = False,
) -> None:
    """Show a lesson's solution; asks first if you have not passed it."""
    from grader.student.loop import learn_verbs

    raise typer.Exit(learn_verbs.solution(lesson, yes, diff))


def open_file(lesson: Lesson = "") -> None:
    """Open your file in $VISUAL or $EDITOR; without one, print its path."""
    from grader.student.loop import learn_verbs

    raise typer.Exit(learn_verbs.open_file(lesson))


def progress(
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw your predictions into this file (.png, .svg).")
    ] = None,
) -> None:
    """Show what is passed, and how good your predictions were."""
    from grader.student.loop import learn_verbs

    learn_verbs.show_progress(as_json, picture)


def predict(
    lesson: Named,
    values: Annotated[list[str] | None, typer.Argument(help="The numbers; left out: you are asked.")] = None,
) -> None:
    """Write a prediction down before the number is shown; it is compared afterwards."""
    from grader.student.loop import learn_verbs

    learn_verbs.make_predictions(lesson, values or [])


VERBS: dict[str, Callable[..., None]] = {
    "list": list_lessons,
    "watch": watch,
    "hint": hint,
    "next": following,
    "reset": reset,
    "solution": solution,
    "open": open_file,
    "progress": progress,
    "predict": predict,
}
