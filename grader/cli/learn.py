"""The student's verbs, and those about the machine, one short function each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.option_types import (
    BackendOption,
    BuildOption,
    CardOption,
    FreshOption,
    OnOption,
    SandboxOption,
    SchedulesOption,
)
from grader.domain import gpu_card
from grader.domain.options import GradingOptions
from grader.domain.task import Own
from grader.reports import formats

app = typer.Typer()
LessonArgument = Annotated[str, typer.Argument(help="A lesson (07); left out: the one you are at.")]
NamedArgument = Annotated[str, typer.Argument(help="A lesson (07).")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
def start(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; it is made.")],
) -> None:
    """Lay out the exercises and notebooks of all lessons in a folder of yours; what you changed is kept."""
    from grader.student import start_verb

    raise typer.Exit(start_verb.run(folder))


@app.command("list")
def list_lessons() -> None:
    """List the lessons, what each is about, and how far you are."""
    from grader.domain import lessons
    from grader.reports.console import screen
    from grader.student import progress
    from grader.student.loop import guide

    screen().print(guide.table(lessons.every(), progress.read()))


@app.command()
def watch(
    lesson: LessonArgument = "",
    backend: BackendOption = "auto",
    sandbox: SandboxOption = "auto",
) -> None:
    """Grade your file each time you save it, with hints and the next lesson at a key."""
    from grader.student.loop.watch import run

    run(lesson, GradingOptions(backend=backend, sandbox=sandbox, with_prediction=True, search=True))


@app.command()
def check(
    what: Annotated[str, typer.Argument(help="A lesson (07), or with --reference the file to grade.")],
    file: Annotated[Path | None, typer.Argument(help="The file to grade; your own if left out.")] = None,
    reference: Annotated[
        Path | None, typer.Option(help="A KernelBench-format reference, or a task.yml, to grade against.")
    ] = None,
    backend: BackendOption = "auto",
    sandbox: SandboxOption = "auto",
    build: BuildOption = "fast",
    json: Annotated[
        str, typer.Option(help='Also write the verdict as JSON to this file ("-": only that, to stdout).')
    ] = "",
    hidden: Annotated[
        Path | None, typer.Option(help="A teacher's file of hidden cases, graded after the others.")
    ] = None,
    second_opinion: Annotated[
        bool, typer.Option("--second-opinion", help="Also show what KernelGuard's rules say of the text.")
    ] = False,
    schedules: SchedulesOption = 1,
    also_nvcc: Annotated[
        bool, typer.Option("--also-nvcc", help="Also compile the kernels with NVIDIA's compiler (simt).")
    ] = False,
    time: Annotated[
        bool, typer.Option("--time", help="Measure the speed on a GPU, and say how, or why it was not.")
    ] = False,
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="Also race torch.compile in this mode: default, max-autotune. May be repeated."),
    ] = None,
    inputs: Annotated[
        str, typer.Option(help="With --reference: unkind (scaled and sign-mixed, too) or as-given.")
    ] = "unkind",
    mode: Annotated[
        str, typer.Option(help="With --reference: train or eval; left out: as the models are constructed.")
    ] = "",
    own: Annotated[
        Own, typer.Option(help="With --reference: what the file's own kernels must do: elementwise or all.")
    ] = "",
    streams: Annotated[
        str,
        typer.Option(help="With --reference: work beside the current stream: advise, or strict: it fails."),
    ] = "advise",
    profile: Annotated[
        bool, typer.Option("--profile", help="With --reference: also show what the kernels do.")
    ] = False,
    html: Annotated[str, typer.Option(help="Also write the verdict as a page to this file.")] = "",
    report: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT=FILE",
            help=f"Also write a report: {formats.names()}. May be repeated.",
        ),
    ] = None,
    card: CardOption = gpu_card.DEFAULT,
    every: Annotated[
        bool, typer.Option("--all", help="Show every check on a line of its own, also those that passed.")
    ] = False,
    student: Annotated[str, typer.Option(help="Whose work it is: some exercises ask each their own.")] = "",
    search: Annotated[
        bool, typer.Option("--search/--no-search", help="Look for a small change that would mend the file.")
    ] = True,
    on: OnOption = "",
    fresh: FreshOption = False,
) -> None:
    """Grade a file: does it build, is every result right, is its memory use clean?"""
    from grader.cli import check_verb

    options = GradingOptions(
        backend=backend, sandbox=sandbox, build=build, hidden=hidden, student=student, schedules=schedules,
        with_speed=time or profile or bool(baseline), with_prediction=reference is None,
        baselines=tuple(baseline or ()), card=card, search=search, inputs=inputs, mode=mode, own=own,
        streams=streams,
    )  # fmt: skip
    asked = [f"{name}={out}" for name, out in (("json", json), ("html", html)) if out]
    shown = check_verb.Shown(
        reports=formats.parse([*asked, *(report or ())]), every=every, clock=time, profile=profile,
        second_opinion=second_opinion, nvcc=also_nvcc,
    )  # fmt: skip
    subject = check_verb.Subject(what, file, reference)
    raise typer.Exit(check_verb.check(subject, options, shown, check_verb.elsewhere(on, fresh=fresh)))


@app.command()
def replay(
    what: Annotated[str, typer.Argument(help="A lesson (07), or with --reference the file to play.")],
    file: Annotated[Path | None, typer.Argument(help="The file to play; your own if left out.")] = None,
    case: Annotated[str, typer.Option(help="Which case; left out: the first that fails.")] = "",
    block: Annotated[str, typer.Option(help="Which block: x,y,z; left out: that of the finding.")] = "",
    launch: Annotated[
        int | None, typer.Option(help="Which launch of the case, from 0; left out: that of the finding.")
    ] = None,
    schedule: Annotated[
        str, typer.Option(help="In which order blocks and warps run: a number, or first: that differs.")
    ] = "0",
    beside: Annotated[
        str, typer.Option(help="A second file to show beside it; solution: once you have passed.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Where to write the page; left out: beside your exercises.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Also write the recording as data to this file.")] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Also write time lines for ui.perfetto.dev to this file.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in your browser.")] = False,
    reference: Annotated[
        Path | None, typer.Option(help="A KernelBench-format reference, or a task.yml, to play against.")
    ] = None,
    sandbox: SandboxOption = "auto",
    student: Annotated[str, typer.Option(help="Whose work it is: some exercises ask each their own.")] = "",
) -> None:
    """Show what the threads of a block did, step by step, as a page: the launch that failed first."""
    from grader.student import replay_verb

    asked = replay_verb.Asked(
        what=what, file=file, reference=reference, case=case, block=block, launch=launch, schedule=schedule,
        beside=beside, out=out, json=json, trace=trace, show=show, sandbox=sandbox, student=student,
    )  # fmt: skip
    raise typer.Exit(replay_verb.run(asked))


@app.command()
def hint(
    lesson: LessonArgument = "",
    todo: Annotated[
        int | None, typer.Argument(help="On which TODO; left out: that of the check that failed first.")
    ] = None,
    level: Annotated[int | None, typer.Option(help="Which one, from 1; left out: the next.")] = None,
) -> None:
    """Open the next hint on a TODO: first the idea, then the place, then the shape of the code."""
    from grader.student.loop import learn_verbs

    learn_verbs.hint(lesson, todo, level)


@app.command()
def capstone(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A problem; left out: all are listed.")] = "",
) -> None:
    """List the problems of the capstone, or lay one out: starter, reference, and the page to hand in."""
    from grader.student import capstone_verb

    raise typer.Exit(capstone_verb.run(name))


@app.command("next")
def following() -> None:
    """Say which lesson is next, and lay its file out."""
    from grader.student.loop import learn_verbs

    learn_verbs.following()


@app.command()
def reset(lesson: NamedArgument, yes: YesOption = False) -> None:
    """Lay a lesson's starter out again; your file is kept as a backup."""
    from grader.student.loop import learn_verbs

    raise typer.Exit(learn_verbs.reset(lesson, sure=yes))


@app.command()
def solution(
    lesson: LessonArgument = "",
    yes: YesOption = False,
    diff: Annotated[bool, typer.Option("--diff", help="How your file differs from it.")] = False,
) -> None:
    """Show a lesson's solution; asks first if you have not passed it."""
    from grader.student.loop import learn_verbs

    raise typer.Exit(learn_verbs.solution(lesson, sure=yes, diff=diff))


@app.command("open")
def open_file(lesson: LessonArgument = "") -> None:
    """Open your file in $VISUAL or $EDITOR; without one, print its path."""
    from grader.student.loop import learn_verbs

    raise typer.Exit(learn_verbs.open_file(lesson))


@app.command()
def progress(
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw your predictions into this file (.png, .svg).")
    ] = None,
) -> None:
    """Show what is passed, and how good your predictions were."""
    from grader.student.loop import learn_verbs

    learn_verbs.show_progress(as_json=as_json, drawn=picture)


@app.command()
def tries(
    word: Annotated[
        str, typer.Argument(metavar="[agree|stop|delete]", help="Left out: show what is kept.")
    ] = "",
) -> None:
    """Keep a log of your tries and their times for yourself or your teacher, only if you agree to it."""
    from grader.student import own_tries

    own_tries.run(word)


@app.command()
def predict(
    lesson: NamedArgument,
    values: Annotated[list[str] | None, typer.Argument(help="The numbers; left out: you are asked.")] = None,
) -> None:
    """Write a prediction down before the number is shown; it is compared afterwards."""
    from grader.student.loop import learn_verbs

    learn_verbs.make_predictions(lesson, values or [])


@app.command()
def explain(
    error: Annotated[
        list[str] | None, typer.Argument(help="An error message or a line of one; without it, it is read.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(help="The file that the error is about: names and lines are looked up in it."),
    ] = None,
) -> None:
    """Say in plain words what an error of nvcc, g++, PyTorch or Python means: cause, place, what to do."""
    from grader.student import explain_verb

    raise typer.Exit(explain_verb.run(" ".join(error or []), source))


@app.command("run", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
def run_file(
    file: Annotated[Path, typer.Argument(help="A script, tests, a notebook, a .cu program; 07: your file.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Its own arguments.")] = None,
    backend: BackendOption = "simt",
) -> None:
    """Run a script, notebook or CUDA program with a cuda device on this CPU, every memory access checked."""
    from grader.student.run import run_verb

    raise typer.Exit(run_verb.run(file, arguments or [], backend))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    lesson: Annotated[str, typer.Argument(help="A lesson (07); left out: all of them.")] = "",
    backend: BackendOption = "auto",
) -> None:
    """Open Jupyter on the lessons' notebooks with a cuda device on this CPU. Extra words go to Jupyter."""
    from grader.student.lab import lab_verb

    raise typer.Exit(lab_verb.run(lesson, backend, context.args))


@app.command()
def doctor() -> None:
    """Say in a few seconds what this machine has for the course, what it lacks, and how to get it."""
    from grader.student.doctor.doctor_report import run

    raise typer.Exit(run())


@app.command()
def demo(backend: BackendOption = "auto") -> None:
    """Grade the starter and the solution of every lesson, and show a table."""
    from grader.backends import detect
    from grader.reports.console import screen
    from grader.student.demo import run

    raise typer.Exit(0 if run(screen(), detect.choose(backend)) else 1)


@app.command()
def companion() -> None:
    """Install the CPU back end beside a GPU's PyTorch, for the checks that only it can make."""
    from grader.backends import cpu_python

    cpu_python.install(lambda text: print(f"course: {text}", file=sys.stderr))
