"""The teacher's verbs, one short function each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.option_types import BackendOption, FreshOption, OnOption, SandboxOption, SchedulesOption
from grader.domain.options import GradingOptions
from grader.reports import formats

app = typer.Typer()


def _words(given: list[str]) -> tuple[str, ...]:
    """Words of an option that may be repeated, and that takes several at once: ``03,07``."""
    return tuple(word.strip() for one in given for word in one.split(",") if word.strip())


def _typed(**given: object) -> list[str]:
    """Options as they are typed, without those that were left out."""
    words = []
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value:
            words += [f"{option}={one}" for one in (value if isinstance(value, list) else [value])]
    return words


@app.command()
def batch(
    submissions: Annotated[
        Path,
        typer.Argument(help="A folder or zip of submissions: files, folders, Gradescope, Canvas, Moodle."),
    ],
    lesson: Annotated[list[str], typer.Option(help="A lesson (07), several (03,07), or all.")],
    out: Annotated[Path, typer.Option(help="The folder of results; the same one goes on.")] = Path("results"),
    roster: Annotated[
        Path | None, typer.Option(help="The class list (CSV): id, login, email, name, section.")
    ] = None,
    layout: Annotated[str, typer.Option(help="auto, files, folders, gradescope, canvas or moodle.")] = "auto",
    backend: BackendOption = "auto",
    workers: Annotated[
        int,
        typer.Option(min=0, help="Gradings at a time, or GPUs; 0: as many as there are cores or GPUs."),
    ] = 0,
    scheduler: Annotated[str, typer.Option(help="A running Dask cluster instead: tcp://HOST:8786.")] = "",
    hidden: Annotated[
        Path | None,
        typer.Option(help="A folder of hidden cases (07.py, ...); tasks_private/ if it is there."),
    ] = None,
    due: Annotated[str, typer.Option(help="When it was due: 2026-11-20T23:59.")] = "",
    late: Annotated[str, typer.Option(help="What a day costs, and at most: 10%,50%.")] = "",
    grace: Annotated[float, typer.Option(min=0, help="Minutes after the due time that cost nothing.")] = 0.0,
    times: Annotated[
        str,
        typer.Option(help="When each was handed in: a platform's CSV or JSON file, git, or files."),
    ] = "",
    final: Annotated[
        list[str] | None,
        typer.Option(help="What counts without a look: missing, refused (0 points), open (without a GPU)."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show whose each file is, for which lesson, or why not.")
    ] = False,
    regrade: Annotated[
        list[str] | None, typer.Option(help="Grade again: a student, a status (not_gradable), or all.")
    ] = None,
    only_pending: Annotated[
        bool, typer.Option("--only-pending", help="On a GPU: only fill in the points that wait for one.")
    ] = False,
    by_student: Annotated[
        bool, typer.Option("--by-student", help="Ask each student the questions of their own id (lesson 05).")
    ] = False,
    report: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT", help=f"More formats: {formats.on_request()}. May be repeated."),
    ] = None,
    sandbox: SandboxOption = "auto",
    limit: Annotated[
        float, typer.Option(min=0, help="Seconds for importing a file and for each call; 0: the usual.")
    ] = 0.0,
    schedules: SchedulesOption = 1,
    profile: Annotated[
        bool, typer.Option("--profile", help="A roofline and a trace for each file that passes.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="A page that plays the launch, for each file that failed in one.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only what goes wrong, and the end.")] = False,
    on: OnOption = "",
    fresh: FreshOption = False,
) -> None:
    """Grade a class: in parallel, kept as it comes, resumed by the same command, with reports."""
    from grader.teaching.batch import batch_verb, late_policy
    from grader.teaching.batch.batch_request import Request

    options = GradingOptions(
        backend=backend, sandbox=sandbox, hidden=hidden, schedules=schedules, limit_s=limit,
        with_prediction=True,
    )  # fmt: skip
    policy = late_policy.parse(due, late, grace, _words(final or []))
    request = Request(
        submissions, out, _words(lesson), options, roster=roster, layout=layout, scheduler=scheduler,
        workers=workers, policy=policy, regrade=tuple(regrade or ()),
        only_pending=only_pending, by_student=by_student, formats=tuple(report or ()), quiet=quiet,
        times=times, as_before=not (due or late or grace or final or times),
    )  # fmt: skip
    if on and not dry_run:
        from grader.cli import remote_verbs

        words = _typed(
            lesson=lesson, layout=layout, backend=backend, workers=workers, late=late, grace=grace,
            final=final, regrade=regrade, only_pending=only_pending, by_student=by_student, report=report,
            sandbox=sandbox, limit=limit, schedules=schedules, profile=profile, replay=replay, quiet=quiet,
        )  # fmt: skip
        raise typer.Exit(remote_verbs.batch(request, words, on, fresh=fresh))
    raise typer.Exit(
        batch_verb.show_files(request)
        if dry_run
        else batch_verb.batch(request, profile=profile, replay=replay)
    )


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="A folder of results, or one verdict (check --json FILE).")],
    wanted: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="FORMAT", help=f"{formats.names()}. May be repeated."),
    ] = None,
    out: Annotated[
        str, typer.Option(help='For one verdict: the file to write, "-" for standard output.')
    ] = "-",
) -> None:
    """Write reports again from what was graded; grades nothing."""
    from grader.teaching.batch import batch_verb

    raise typer.Exit(batch_verb.report(results, tuple(wanted or ()), out))


@app.command()
def gradebook(
    results: Annotated[Path, typer.Argument(help="A folder of results.")],
    table: Annotated[Path, typer.Argument(help="Canvas' gradebook or Moodle's grading worksheet (CSV).")],
    lesson: Annotated[str, typer.Option(help="The lesson (07) whose points are filled in.")],
    column: Annotated[str, typer.Option(help="Canvas' column, where the lesson does not tell it.")] = "",
    out: Annotated[Path | None, typer.Option(help="The file to write; in reports/ if left out.")] = None,
) -> None:
    """Fill the platform's own table, all else untouched, and pack the feedback for its upload."""
    from grader.teaching.gradebook import gradebook_verb

    raise typer.Exit(gradebook_verb.run(results, table, lesson, column, out))


@app.command()
def similar(
    submissions: Annotated[Path, typer.Argument(help="A folder or zip of submissions, as for batch.")],
    lesson: Annotated[list[str], typer.Option(help="A lesson (07), or several (03,07).")],
    layout: Annotated[str, typer.Option(help="auto, files, folders, gradescope, canvas or moodle.")] = "auto",
    least: Annotated[float, typer.Option(min=0, max=1, help="Leave out pairs that share less.")] = 0.75,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Earlier years' submissions as well, as sources. May be repeated."),
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="The class list (CSV); files of one team are not compared.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Also write the list to this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write the pairs side by side to this page.")] = None,
) -> None:
    """List submissions that resemble each other, for a person to look at; it accuses nobody."""
    from grader.teaching.similar import similar_verb

    asked = similar_verb.Asked(
        submissions, _words(lesson), layout, least, tuple(against or ()), json, html, roster
    )
    raise typer.Exit(similar_verb.run(asked))


@app.command()
def exam(
    lesson: Annotated[str, typer.Argument(help="A lesson that has one: 02, 03, 04, 07 or 09.")],
    name: Annotated[
        list[str] | None, typer.Option(help="Whose variant it is: a name or number. May be repeated.")
    ] = None,
    term: Annotated[str, typer.Option(help="A variant for a whole class, drawn by the term: 2027w.")] = "",
    secret: Annotated[
        str, typer.Option(help="Yours, and the same each time: else students can draw their own keys.")
    ] = "",
    out: Annotated[Path, typer.Option(help="The folder to write: students/ and keys/.")] = Path("exam"),
    grade: Annotated[
        Path | None, typer.Option(help="Grade this file as the answer of the one name given.")
    ] = None,
    backend: BackendOption = "auto",
) -> None:
    """Write a student's own variant of a lesson, or a term's, with its key, or grade an answer to it."""
    from grader.teaching.exam import exam_verb

    wanted = exam_verb.Wanted(tuple(name or ()), secret, out, term)
    raise typer.Exit(exam_verb.run(lesson, wanted, grade, backend))


@app.command()
def export(
    platform: Annotated[str, typer.Argument(help="gradescope, classroom50 or nbgrader.")],
    lesson: Annotated[str, typer.Argument(help="A lesson (07).")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; one in this folder if left out.")
    ] = None,
    hidden: Annotated[
        Path | None, typer.Option(help="A file of hidden cases; tasks_private/07.py if it is there.")
    ] = None,
) -> None:
    """Write a lesson as a package for a platform that grades by itself; no solution is in it."""
    from grader.teaching.export import export_verb

    raise typer.Exit(export_verb.run(platform, lesson, out, hidden))
