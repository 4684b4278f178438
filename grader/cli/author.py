"""The verbs ``bench`` and ``roofline``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BackendOption = Annotated[str, typer.Option("--backend", help="auto, cuda (a GPU) or simt (this CPU).")]
CardOption = Annotated[
    str,
    typer.Option("--card", help="The GPU to predict for: t4, l4, rtx3060, rtx4090, a100, h100, h200."),
]
SandboxOption = Annotated[
    str,
    typer.Option(
        "--sandbox",
        help="auto (all layers that this machine has), strict (refuse if one is missing) or off.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(roofline)
    app.command()(bench)


def roofline(
    what: Annotated[str, typer.Argument(help="A lesson (09), or a script of your own (FILE.py).")],
    file: Annotated[
        Path | None, typer.Argument(help="The lesson's file; your own in work/ if left out.")
    ] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None, typer.Option(help="The file to write; one in work/profile/ if left out.")
    ] = None,
    card: CardOption = "h200",
    sandbox: SandboxOption = "auto",
) -> None:
    """Draw a GPU's roofline with a file's kernels on it: measured on a GPU, predicted without one."""
    from grader.profiling.profile import roof

    raise typer.Exit(roof.run(what, file, backend, out, card, sandbox))


def bench(
    lesson: Annotated[
        list[str] | None, typer.Argument(help="Lessons (07 08); all that have a speed if left out.")
    ] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for bench.json and bench.svg; work/bench if left out."),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="Beside eager: default, max-autotune. May be repeated; default if left out."),
    ] = None,
    card: CardOption = "h200",
) -> None:
    """Time every solution against its baselines on a GPU; without one say what it needs, and predict."""
    from grader.profiling.bench import bench_verb

    raise typer.Exit(bench_verb.run(lesson or [], backend, out, tuple(baseline or ["default"]), card))
