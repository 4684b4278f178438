"""Options that several verbs have, each declared once."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.domain import gpu_card
from grader.domain.options import MOST_SCHEDULES

BackendOption = Annotated[str, typer.Option("--backend", help="auto, cuda (a GPU) or simt (this CPU).")]

SandboxOption = Annotated[
    str,
    typer.Option(
        "--sandbox",
        help="auto (all layers that there are), strict (refuse if any but Landlock is missing) or off.",
    ),
]

BuildOption = Annotated[
    str,
    typer.Option(
        "--build", help="On a GPU: fast (in seconds, where it can) or ordinary (always as torch does)."
    ),
]

CardOption = Annotated[
    str, typer.Option("--card", help=f"The GPU to predict for: {', '.join(gpu_card.names())}.")
]

SchedulesOption = Annotated[
    int,
    typer.Option(
        min=1, max=MOST_SCHEDULES, help="Play each case in so many orders of blocks and warps (simt)."
    ),
]

OnOption = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="ssh:HOST",
        help="Do it on another machine, also ssh:USER@HOST:PORT, and show it here.",
    ),
]

FreshOption = Annotated[
    bool, typer.Option("--fresh", help="With --on: again, even if that machine has done the same before.")
]
