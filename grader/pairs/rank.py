"""``course compare a.py b.py --reference ref.py``: several candidates for one problem, as one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.verdict import Verdict

NEAR = 0.05  # predictions that lie closer than this are not told apart
PREDICTED = (
    "No clock was read: the times are predicted from counted bytes, without an interval. Predictions within "
    "5 % of each other share a group; only a GPU's clock can tell those apart."
)
MEASURED = (
    "Each candidate took turns with eager PyTorch on this GPU, one candidate after another; the ratios have "
    "95 % intervals, and candidates whose intervals overlap share a group."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One candidate: how many times as fast as eager, between ``low`` and ``high``; None without a speed."""

    name: str
    verdict: Verdict
    ratio: float | None
    low: float
    high: float


def entry(name: str, verdict: Verdict) -> Entry:
    """What a verdict says of a candidate's speed."""
    speed: dict[str, Any] = verdict.speed or {}
    ratio = speed.get("whole_ratio")
    if not verdict.ok or not isinstance(ratio, float):
        return Entry(name, verdict, None, 0.0, 0.0)
    low, high = speed.get("interval", (ratio / (1 + NEAR), ratio * (1 + NEAR)))
    return Entry(name, verdict, ratio, float(low), float(high))


def groups(entries: list[Entry]) -> list[list[Entry]]:
    """Those with a speed, fastest first; one that the data cannot tell from a group's fastest joins it."""
    found: list[list[Entry]] = []
    for one in sorted((e for e in entries if e.ratio), key=lambda e: -(e.ratio or 0.0)):
        if found and one.high >= found[-1][0].low:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def show(console: Console, entries: list[Entry]) -> None:
    """The table: rank, candidate, time, ratio, interval; then those without a speed."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("rank", "candidate", "time", "times as fast as eager", "between"):
        grid.add_column(head, justify="left" if head == "candidate" else "right")
    place, measured = 1, False
    for group in groups(entries):
        for one in group:
            speed = one.verdict.speed or {}
            measured |= speed.get("kind") == "measured"
            seconds = speed["seconds"]["median"] if "seconds" in speed else speed["kernel_seconds"]
            span = f"{one.low:.3f} to {one.high:.3f}" if "interval" in speed else "-"
            grid.add_row(str(place), one.name, f"{seconds * 1e6:.2f} us", f"{one.ratio:.3f}", span)
        place += len(group)
    for one in entries:
        if one.ratio is None:
            bad = next((f for f in one.verdict.findings if not f.ok), None)
            why = f"{bad.id}: {bad.message}" if bad else str((one.verdict.speed or {}).get("why", "no speed"))
            grid.add_row("-", one.name, "-", str(one.verdict.status), Text(why[:60], "dim"))
    console.print(grid)
    console.print(Text(MEASURED if measured else PREDICTED, "dim"))


def run(files: list[Path], reference: Path, wanted: str) -> int:
    """Grade and time every candidate; 0 if all of them passed."""
    from grader import backend
    from grader.check import check as grade
    from grader.pairs.job import job
    from grader.report.console import screen

    choice, entries = backend.choose(wanted), []
    names = [p.name for p in files]
    for path in files:
        made = replace(job(reference, path, choice), with_speed=True)
        name = path.name if names.count(path.name) == 1 else str(path)
        entries.append(entry(name, grade(made).verdict))
    show(screen(), entries)
    return 0 if all(e.verdict.ok for e in entries) else 1


def register(app: typer.Typer) -> None:
    """Add the verb."""

    @app.command()
    def compare(
        files: Annotated[list[Path], typer.Argument(help="The candidates: files with ModelNew.")],
        reference: Annotated[Path, typer.Option(help="The reference that all of them are held against.")],
        backend: Annotated[str, typer.Option(help="auto, cuda (a GPU) or simt (this CPU).")] = "auto",
    ) -> None:
        """Grade several candidates for one problem, and rank those that the data can tell apart."""
        raise typer.Exit(run(files, reference, backend))
