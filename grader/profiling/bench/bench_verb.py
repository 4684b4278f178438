"""``course bench``: every solution that has a speed, as a table, a JSON file and a picture."""

from __future__ import annotations

import json
import platform
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, TypedDict

from rich.table import Table
from rich.text import Text

from grader.backends import detect
from grader.domain import disk, gpu_card, workspace
from grader.domain.installation import COURSE, document
from grader.profiling.bench import bench_plot, bench_rows
from grader.profiling.profile import roofline_picture
from grader.referee.timing import gpu_state
from grader.reports import console as report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from grader.profiling.bench.bench_rows import BenchRow, MeasuredRow

SCHEMA = "inline-to-fused/bench/v1"
NEEDS = (
    f"Times need a GPU's clock: an NVIDIA GPU, PyTorch with CUDA, nvcc and ninja; {COURSE} doctor says what "
    "is missing. On this machine nothing is timed. What follows is predicted for {card} from what was "
    f"counted. How far to trust that: {document('guide/prediction')}."
)


class Bench(TypedDict):
    """The file that is written; ``how``: measured, or predicted for which card."""

    schema: str
    command: str
    date: str
    how: str
    machine: dict[str, object]
    versions: dict[str, str]
    lessons: list[BenchRow]


def run(wanted: list[str], back_end: str, out: Path | None, baselines: tuple[str, ...], card: str) -> int:
    """Time or predict them all; 0, or 1 if a solution has neither. Files are written after each lesson."""
    choice, console = detect.choose(back_end), report.screen()
    measuring = choice.name == "cuda"
    where = gpu_card.card(card).name
    if not measuring:
        console.print(Text(NEEDS.format(card=where) + "\n", "yellow"))
    result: Bench = {
        "schema": SCHEMA,
        "command": " ".join(["course bench", *wanted]),
        "date": time.strftime("%Y-%m-%d"),
        "how": "measured" if measuring else f"predicted for {where}; nothing was timed",
        "machine": gpu_state.state_json() if measuring else {"processor": platform.machine()},
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "lessons": [],
    }
    folder = out or workspace.for_results() / "bench"
    place, image = folder / "bench.json", folder / "bench.svg"
    for lesson in bench_rows.timed(wanted):
        with console.status(lesson.name):
            result["lessons"].append(bench_rows.row(lesson, choice, baselines if measuring else (), card))
        disk.write(place, json.dumps(result, indent=1, allow_nan=False) + "\n", sync=True)
    table(console, result["lessons"])
    files = {"numbers": place}
    if not roofline_picture.available():
        console.print(Text("No picture: matplotlib is not installed.", "dim"))
    elif bench_plot.drawn(result["lessons"]):
        bench_plot.draw(result["lessons"], title(result), image)
        files["picture"] = image
    console.print()
    for what, path in files.items():
        console.print(Text(f"{what:<10}").append(workspace.shown(path), "bold"), soft_wrap=True)
    return int(any(row["kind"] == "none" and measuring for row in result["lessons"]))


def title(result: Bench) -> str:
    """What the picture says above itself: on what, and how."""
    devices = sorted({row["device"] for row in result["lessons"] if row["kind"] != "none"})
    return f"Solutions against their baselines, {result['how'].split(';')[0]}\n{', '.join(devices)}"


def table(console: Console, found: Sequence[BenchRow]) -> None:
    """A line for each baseline of each lesson."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    interval = ("95 % interval",) if any(row["kind"] == "measured" for row in found) else ()
    for name in ("lesson", "beside", "solution", "baseline", "ratio", *interval, ""):
        left = name in ("lesson", "beside", "")
        grid.add_column(name, justify="left" if left else "right", no_wrap=name in ("lesson", "beside"))
    idle: list[str] = []
    for row in found:
        if row["kind"] == "none":
            idle.append(f"{row['lesson']} is not timed: {row['why']}")
        elif row["kind"] == "predicted":
            kernels = (row["kernel_seconds"], row["eager_kernel_seconds"])
            times = [f"{seconds * 1e6:,.1f} us" for seconds in kernels]
            last = (*[""] * len(interval), "predicted")
            grid.add_row(row["lesson"], "kernels alone", *times, f"{row['kernel_ratio']:.2f}", *last)
            times = [f"{(seconds + row['product_seconds']) * 1e6:,.1f} us" for seconds in kernels]
            grid.add_row("", "whole call", *times, f"{row['whole_ratio']:.4f}", *last)
        else:
            _measured(grid, row)
    if grid.row_count:
        console.print(grid)
    for sentence in idle:
        console.print(Text(sentence))


def _measured(grid: Table, row: MeasuredRow) -> None:
    name, own = row["lesson"], f"{row['seconds']['median'] * 1e6:,.1f} us"
    for baseline, against in row["baselines"].items():
        low, high = against["interval"]
        theirs = f"{against['seconds']['median'] * 1e6:,.1f} us"
        between = f"{low:.4f} to {high:.4f}"
        grid.add_row(name, baseline, own, theirs, f"{against['ratio']:.4f}", between, against["outcome"])
        name = own = ""
