"""The verbs of ``./course``, one short function each."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Annotated

import typer

from grader.cli import author as clocks
from grader.cli import teach as teacher
from grader.cli import verb_groups
from grader.cli.learn import register
from grader.domain import disk
from grader.domain.errors import BadInputError
from grader.profiling import compare_verb
from grader.reports import formats

app = typer.Typer(
    name="course", help="Inline to Fused: learn to write, check and fuse CUDA kernels in PyTorch.",
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, cls=verb_groups.ByReader,
)  # fmt: skip
dev = typer.Typer(help="For contributors.", no_args_is_help=True)
app.add_typer(dev, name="dev")
register(app)
teacher.register(app)
compare_verb.register(app)
clocks.register(app)

BackendOption = Annotated[str, typer.Option("--backend", help="auto, cuda (a GPU) or simt (this CPU).")]

SandboxOption = Annotated[
    str,
    typer.Option(
        "--sandbox",
        help="auto (all layers that this machine has), strict (refuse if one is missing) or off.",
    ),
]

CardOption = Annotated[
    str,
    typer.Option("--card", help="The GPU to predict for: t4, l4, rtx3060, rtx4090, a100, h100, h200."),
]


@app.callback(invoke_without_command=True)
def welcome(context: typer.Context) -> None:
    """Inline to Fused: learn to write, check and fuse CUDA kernels in PyTorch."""
    if context.invoked_subcommand is None:
        from grader.reports.console import screen
        from grader.student.loop import guide

        guide.welcome(screen())


@app.command()
def check(
    what: Annotated[str, typer.Argument(help="A lesson (07), or with --reference the file to grade.")],
    file: Annotated[
        Path | None, typer.Argument(help="The file to grade; your own in work/ if left out.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option(help="A KernelBench-format reference, or a task.yml, to grade against.")
    ] = None,
    backend: BackendOption = "auto",
    sandbox: SandboxOption = "auto",
    json: Annotated[
        str, typer.Option(help='Also write the verdict as JSON to this file ("-": only that, to stdout).')
    ] = "",
    hidden: Annotated[
        Path | None, typer.Option(help="A teacher's file of hidden cases, graded after the lesson's own.")
    ] = None,
    second_opinion: Annotated[
        bool, typer.Option("--second-opinion", help="Also show what KernelGuard's rules say of the text.")
    ] = False,
    schedules: Annotated[
        int,
        typer.Option(min=1, max=64, help="Play each case in so many orders of blocks and warps (simt)."),
    ] = 1,
    also_nvcc: Annotated[
        bool, typer.Option("--also-nvcc", help="Also compile the kernels with NVIDIA's compiler (simt).")
    ] = False,
    time: Annotated[
        bool, typer.Option("--time", help="Say how the speed was measured, or why it was not.")
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
    card: CardOption = "h200",
    every: Annotated[
        bool, typer.Option("--all", help="Show every check on a line of its own, also those that passed.")
    ] = False,
    student: Annotated[str, typer.Option(help="Whose work it is: some exercises ask each their own.")] = "",
    search: Annotated[
        bool, typer.Option("--search/--no-search", help="Look for a small change that would mend the file.")
    ] = True,
) -> None:
    """Grade a file: does it build, is every result right, is its memory use clean?"""
    from grader.cli import check_verb

    asked = [f"{name}={out}" for name, out in (("json", json), ("html", html)) if out]
    code = check_verb.check(
        what, file, reference, backend, formats.parse([*asked, *(report or ())]), sandbox, hidden,
        second_opinion=second_opinion, schedules=schedules, also_nvcc=also_nvcc, time=time,
        baselines=tuple(baseline or ()), inputs=inputs, mode=mode, profile=profile,
        card=card, every=every, student=student, search=search,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def companion() -> None:
    """Install the CPU back end beside a GPU's PyTorch, for the checks that only it can make."""
    from grader.referee import cpu_environment as beside

    beside.install(lambda text: print(f"course: {text}", file=sys.stderr))


@app.command()
def demo(backend: BackendOption = "auto") -> None:
    """Grade the starter and the solution of every lesson, and show a table."""
    from grader.backends import detect as back_ends
    from grader.reports.console import screen
    from grader.student import demo as demonstration

    raise typer.Exit(0 if demonstration.run(screen(), back_ends.choose(backend)) else 1)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(
    context: typer.Context,
    gpu: Annotated[bool, typer.Option("--gpu", help="Also run the tests that need a GPU.")] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Also grade every mutant of every lesson; twice the time.")
    ] = False,
) -> None:
    """Run every check of the project: lint, types, generated files, docs, tests. Extra words go to pytest."""
    from grader.domain.lessons import course_root
    from tools import suite

    raise typer.Exit(suite.run(context.args, gpu=gpu, root=course_root(), thorough=every))


@app.command()
def docs(
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it at http://127.0.0.1:8000 and follow edits.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Make a zip of it that opens from a file, search included.")
    ] = False,
) -> None:
    """Build the documentation site into site/."""
    from grader.cli import check_verb

    raise typer.Exit(check_verb.docs_offline() if offline else check_verb.docs(serve))


@app.command()
def doctor() -> None:
    """Say in a few seconds what this machine has for the course, what it lacks, and how to get it."""
    from grader.student.doctor.doctor_report import run

    raise typer.Exit(run())


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
    file: Annotated[Path, typer.Argument(help="A script, tests, a notebook; 07: your file of that lesson.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments for the script.")] = None,
    backend: Annotated[
        str, typer.Option("--backend", help="simt (this CPU), cuda (a GPU) or auto.")
    ] = "simt",
) -> None:
    """Run a script or notebook of your own with a cuda device on this CPU, every memory access checked."""
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
def profile(
    what: Annotated[str, typer.Argument(help="A lesson (07), or a script of your own (FILE.py).")],
    file: Annotated[
        Path | None, typer.Argument(help="The lesson's file; your own in work/ if left out.")
    ] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None, typer.Option(help="The folder to write to; one in work/profile/ if left out.")
    ] = None,
    card: CardOption = "h200",
    sandbox: SandboxOption = "auto",
) -> None:
    """Show what a file's kernels do: launches, bytes, sectors by line, a trace, a roofline, ncu's command."""
    from grader.profiling.profile import profile_verb

    raise typer.Exit(profile_verb.run(what, file, backend, out, card, sandbox))


@dev.command()
def generate(
    check: Annotated[bool, typer.Option("--check", help="Only say which files are out of date.")] = False,
) -> None:
    """Write the starters and the code on the pages from the solutions."""
    from grader.domain.lessons import course_root
    from tools.generate import generate as write

    changed = write(course_root(), check=check)
    for path in changed:
        print(f"{'out of date' if check else 'written'}: {path}")
    raise typer.Exit(1 if check and changed else 0)


@dev.command("new")
def new_lesson(
    name: Annotated[str, typer.Argument(help="The folder's name: a free number and words, as 14_softmax.")],
    title: Annotated[str, typer.Option(help="What the page is called; made of the name if left out.")] = "",
) -> None:
    """Begin a lesson: two folders that pass `dev check`, with a few blanks that are named."""
    from grader.domain.lessons import course_root, find
    from tools import blanks
    from tools.new import new

    root = course_root()
    for path in new(root, name, title):
        print(f"written: {path.relative_to(root)}")
    left = blanks.left(find(name))
    print("\n".join(["", f"{len(left)} blanks to fill in:", *(f"  {blank}" for blank in left)]))


@dev.command("check")
def check_lessons(
    lesson: Annotated[list[str] | None, typer.Argument(help="Lessons, as 02 or 07; all if left out.")] = None,
    mutants: Annotated[
        bool, typer.Option("--mutants/--no-mutants", help="Grade the mutants, which takes most of the time.")
    ] = True,
) -> None:
    """Check that lessons are whole: starters fail, solutions pass, mutants fail, pages run."""
    from grader.domain.lessons import course_root
    from tools.lesson_check import problems

    found = problems(course_root(), lesson or [], print, mutants)
    print("\n".join(["", *found]) if found else "Every lesson is whole.")
    raise typer.Exit(1 if found else 0)


@dev.command("mistakes")
def beginners_mistakes(
    lesson: Annotated[list[str] | None, typer.Argument(help="Lessons, as 02 or 07; all if left out.")] = None,
    only: Annotated[str, typer.Option(help="Only mistakes whose name holds this text.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Print what the student reads, too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the counts to this file, as JSON.")] = None,
) -> None:
    """Grade the bank of beginners' mistakes: does the first panel name line and cause?"""
    from tools import bank

    raise typer.Exit(bank.run(lesson or [], only, show, out))


@dev.command()
def capture(backend: BackendOption = "auto") -> None:
    """Record the terminals that README and home page show: docs/assets/check.svg and demo.svg."""
    from grader.domain.lessons import course_root
    from tools import capture as recorder

    assets = course_root() / "docs" / "assets"
    recorder.check(assets / "check.svg")
    raise typer.Exit(0 if recorder.capture(assets / "demo.svg", backend) else 1)


def main() -> None:
    """Run a verb; one sentence and exit code 2 for what the caller can mend, never a traceback of ours."""
    try:
        app(prog_name=verb_groups.name())
    except SystemExit as done:
        if done.code == 130:  # Typer has turned Ctrl-C into this
            print("\ncourse: stopped.", file=sys.stderr)
        raise
    except BadInputError as error:
        print(f"course: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os._exit(0)  # the reader of our output has left; there is nobody to tell
    except Exception as error:
        if sentence := disk.trouble(error):
            print(f"course: {sentence}", file=sys.stderr)
            sys.exit(2)
        with tempfile.NamedTemporaryFile("w", prefix="course-", suffix=".log", delete=False) as log:
            traceback.print_exc(file=log)
        print(
            f"course: the grader itself failed ({type(error).__name__}: {error}). "
            f"This is a fault of ours, not yours; the details are in {log.name}.",
            file=sys.stderr,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
