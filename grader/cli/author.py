"""Verbs for whoever writes kernels of their own: what they do, how fast they are, which is best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.option_types import BackendOption, CardOption, FreshOption, OnOption, SandboxOption
from grader.domain import gpu_card
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions

app = typer.Typer()


@app.command()
def profile(
    what: Annotated[str, typer.Argument(help="A lesson (07), or a script of your own (FILE.py).")],
    file: Annotated[Path | None, typer.Argument(help="The lesson's file; your own if left out.")] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write to; one in profile/ beside your exercises if left out."),
    ] = None,
    card: CardOption = gpu_card.DEFAULT,
    sandbox: SandboxOption = "auto",
    on: OnOption = "",
    fresh: FreshOption = False,
) -> None:
    """Show what a file's kernels do: launches, bytes, sectors by line, a trace, a roofline, ncu's command."""
    if on:
        from grader.cli import remote_verbs

        options = GradingOptions(backend=backend, sandbox=sandbox, card=card)
        raise typer.Exit(remote_verbs.profile(what, file, options, out, on, fresh=fresh))
    from grader.profiling.profile import profile_verb

    raise typer.Exit(profile_verb.run(what, file, backend, out, card, sandbox))


@app.command()
def roofline(
    what: Annotated[str, typer.Argument(help="A lesson (09), or a script of your own (FILE.py).")],
    file: Annotated[Path | None, typer.Argument(help="The lesson's file; your own if left out.")] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write; one in profile/ beside your exercises if left out."),
    ] = None,
    card: CardOption = gpu_card.DEFAULT,
    sandbox: SandboxOption = "auto",
) -> None:
    """Draw a GPU's roofline with a file's kernels on it: measured on a GPU, predicted without one."""
    from grader.profiling.profile import roof

    raise typer.Exit(roof.run(what, file, backend, out, card, sandbox))


@app.command()
def compare(
    files: Annotated[list[Path], typer.Argument(help="The candidates: files with ModelNew.")],
    reference: Annotated[
        Path | None, typer.Option(help="The reference that all of them are held against.")
    ] = None,
    backend: BackendOption = "auto",
    json: Annotated[str, typer.Option(help="Also write ranks and verdicts as JSON to this file.")] = "",
    picture: Annotated[str, typer.Option(help="Also draw the roofline into this file (SVG).")] = "",
    card: CardOption = gpu_card.DEFAULT,
    sandbox: SandboxOption = "auto",
    on: OnOption = "",
    fresh: FreshOption = False,
) -> None:
    """Grade several candidates for one problem, and rank those that the data can tell apart."""
    if reference is None:
        raise BadInputError(
            "compare holds several files against one reference: name it with --reference REFERENCE.py. "
            "A lesson's file is timed by `course check 07 --time`, the lessons' solutions by "
            "`course bench 07`."
        )
    options = GradingOptions(backend=backend, sandbox=sandbox, card=card, with_speed=True)
    if on:
        from grader.cli import remote_verbs

        raise typer.Exit(remote_verbs.compare(files, reference, options, (json, picture), on, fresh=fresh))
    from grader.profiling import compare_verb

    raise typer.Exit(compare_verb.run(files, reference, options, json, picture))


@app.command()
def bench(
    lesson: Annotated[
        list[str] | None, typer.Argument(help="Lessons (07 08); all that have a speed if left out.")
    ] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder for bench.json and bench.svg; bench/ beside your exercises if left out."
        ),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="Beside eager: default, max-autotune. May be repeated; default if left out."),
    ] = None,
    card: CardOption = gpu_card.DEFAULT,
) -> None:
    """Time every solution against its baselines on a GPU; without one say what it needs, and predict."""
    from grader.profiling.bench import bench_verb

    raise typer.Exit(bench_verb.run(lesson or [], backend, out, tuple(baseline or ["default"]), card))
