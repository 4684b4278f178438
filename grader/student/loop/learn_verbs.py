"""The student's verbs apart from ``watch``: what they do once their arguments are parsed."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from rich.markdown import Markdown
from rich.markup import escape
from rich.syntax import Syntax

from grader.domain import lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.reports.console import screen
from grader.student import progress
from grader.student.loop import guide, hints, predictions, progress_picture

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.lessons import Lesson


def wanted(word: str) -> Lesson:
    """The lesson of that number or name; for "" the one the student is at."""
    if word:
        return lessons.find(word)
    course = lessons.every()
    return guide.current(progress.read(), course) or course[-1]


def hint(word: str, todo: int | None, level: int | None) -> None:
    """Open the next hint on a TODO."""
    lesson = wanted(word)
    got = hints.take(lesson, todo, level)
    console = screen()
    title = f"Lesson {lesson.number}, {got.about}. Hint {got.level}: {got.heading}"
    console.print(f"[bold]{escape(title)}[/]\n")
    console.print(Markdown(got.text))
    if got.last:
        console.print(
            f"\n[dim]That is all on it. {COURSE} hint {lesson.number} TODO opens those on another.[/]"
        )


def following() -> None:
    """Say what is next, and lay its file out."""
    lesson = wanted("")
    workspace.file(lesson)
    guide.welcome(screen())


def reset(word: str, *, sure: bool) -> int:
    """Lay the starter out again, with a backup."""
    lesson = lessons.find(word)
    mine = workspace.place(lesson)
    if (
        mine.exists()
        and not sure
        and not _confirmed(f"Replace {workspace.shown(mine)} by the starter? A backup is kept.")
    ):
        print("Nothing was changed.")
        return 1
    kept = workspace.reset(lesson)
    print(
        f"{workspace.shown(mine)} is the starter again."
        + (f" Yours is kept as {workspace.shown(kept)}." if kept else "")
    )
    return 0


def solution(word: str, *, sure: bool, diff: bool) -> int:
    """Show the solution, or how the student's file differs from it: after a pass, or when they insist."""
    lesson = wanted(word)
    passed = progress.read().line(lesson.name).passed
    if not (passed or sure) and not _confirmed(
        f"Lesson {lesson.number} is not passed yet. Show its solution?"
    ):
        print(f"Not shown. A hint may be enough: {COURSE} hint {lesson.number}")
        return 1
    text = shown_solution(lesson, diff=diff)
    if not sys.stdout.isatty():  # for a file or another program: no line is broken
        print(text)
        return 0
    lexer = "diff" if diff else "python"
    screen().print(Syntax(text, lexer, background_color="default", word_wrap=True))
    return 0


def shown_solution(lesson: Lesson, *, diff: bool) -> str:
    """The solution without the marks that make the starter, or a diff from the student's file to it."""
    lines = [x for x in lesson.solution.read_text().splitlines() if not _is_mark(x)]
    if not diff:
        return "\n".join(lines)
    mine = workspace.file(lesson).read_text(errors="replace").splitlines()
    return (
        "\n".join(difflib.unified_diff(mine, lines, "yours", "solution", lineterm="", n=2))
        or "No difference."
    )


def open_file(word: str) -> int:
    """Open the student's file in their editor; without one, say where it is."""
    lesson = wanted(word)
    mine = workspace.file(lesson)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or shutil.which("code") or ""
    if not editor or not sys.stdout.isatty():
        print(mine)
        return 0
    try:
        return subprocess.run([*shlex.split(editor), str(mine)], check=False).returncode
    except OSError as error:
        raise BadInputError(f"The editor {editor!r} could not be started: {error.strerror}.") from error


def show_progress(*, as_json: bool, drawn: Path | None = None) -> None:
    """Every lesson's best verdict, and how good the predictions were; ``drawn``: as a picture, too."""
    workspace.folder()  # where it is kept: without one, no progress is not the same as none made
    done, course = progress.read(), lessons.every()
    if drawn is not None:
        number = progress_picture.draw(list(done.guesses.values()), drawn)
        print(f"{number} predictions drawn: {workspace.shown(drawn)}", file=sys.stderr)
    if as_json:
        print(json.dumps(_as_json(done, course), indent=2))
        return
    console = screen()
    console.print(guide.bar(done, course), "\n", sep="")
    console.print(guide.table(course, done))
    if done.guesses:
        console.print("\n[bold]Your predictions[/]")
        console.print(predictions.calibration([done.guesses[k] for k in sorted(done.guesses)]))


def make_predictions(word: str, values: list[str]) -> None:
    """Ask for the lesson's predictions, or take them from the command line, and say what unlocks."""
    lesson = wanted(word)
    workspace.folder()  # before anybody is asked what then cannot be kept

    def ask(question: str) -> str:
        if not sys.stdin.isatty():
            raise BadInputError(unasked(lesson, len(values)))
        return input(f"{question} ")

    made = predictions.make(lesson, values, ask)
    if not made:
        print(f"Your predictions of lesson {lesson.number} are made; {COURSE} progress shows them.")
    asked = {p.what: p for p in lesson.task.predictions}
    for guess in made:
        if guess.found is None:
            print(f"Kept: {guess.what.removesuffix('_ratio')} {guess.value:g}")
        else:
            print(predictions.resolved(asked[guess.what], guess))
    if any(guess.found is None for guess in made):
        print(f"{COURSE} check {lesson.number} will show your speed beside it once everything passes.")


def unasked(lesson: Lesson, given: int) -> str:
    """What is asked where nobody can answer, after ``given`` numbers on the command line: all of it."""
    left = len(predictions.open_questions(lesson))
    kept = f" {given} of {left} given, so nothing was kept." if given else " All are kept at once."
    example = " ".join(["1.5", "2", "30", "4", "5"][:left])
    return (
        f"Lesson {lesson.number} asks for:\n{predictions.listed(lesson)}\n"
        f"Give all {left} numbers on the command line, in this order: "
        f"{COURSE} predict {lesson.number} {example}.{kept}"
    )


def _as_json(done: progress.Progress, course: list[Lesson]) -> dict[str, object]:
    rows = [(lesson, done.line(lesson.name)) for lesson in course]
    return {
        "schema": "inline-to-fused/progress/v1",
        "lessons": [
            {"lesson": x.name, "status": y.status, "points": y.points, "max_points": x.task.max_points,
             "tries": y.tries, "hints": y.hints, "when": y.when}
            for x, y in rows
        ],
        "predictions": [
            {"lesson": g.lesson, "about": g.what, "predicted": g.value, "found": g.found}
            for g in done.guesses.values()
        ],
    }  # fmt: skip


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise BadInputError(f"{question} There is nobody to ask here; add --yes.")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _is_mark(line: str) -> bool:
    text = line.strip().removeprefix("#").removeprefix("//").strip()
    return text.startswith(("solution: ", "starter: ", "region: ", "endregion"))
