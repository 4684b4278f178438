"""``course profile 07 [FILE]``: run, count or measure, and say what the lecture shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader import backend, lessons, roofline, submission
from grader.errors import BadInputError
from grader.profile import driver, kernels, picture
from grader.profile.kernels import Row
from grader.report.console import screen


def run(what: str, file: Path | None, wanted: str, out: Path | None, card_name: str) -> int:
    """Profile one call; 0, or 1 if the file failed. Everything is written into ``out``."""
    lesson = lessons.find(what)
    path = submission.read(file or lesson.exercise).path
    card = roofline.card(card_name)
    source = driver.text(lesson.task, path, lesson.name)
    choice = backend.choose(wanted)
    folder = out or Path(f"profile_{lesson.number}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "call.py").write_text(source)
    except OSError as error:
        raise BadInputError(f"{folder} cannot be written to: {error.strerror}.") from error
    seen = _observe(choice.name, folder, path)
    if seen is None:
        return 1
    launches = seen["launches"]
    console = screen()
    if not launches:
        console.print(Text(f"{path.name} launched no kernel of its own in this call."))
        return 1
    if choice.name == "simt":
        rows = kernels.predicted(launches, lesson.task, card)
        title = f"{lesson.name}, predicted for {card.name}"
        (folder / "trace.json").write_text(json.dumps(kernels.trace(rows, title)))
    else:
        rows = kernels.measured(launches, int(seen["calls"]))
    _tell(console, rows, seen, lesson.task.speed is not None, card)
    if choice.name == "simt":
        _lines(console, launches)
        _picture(console, rows, lesson.task, card, folder)
    _next(console, rows, folder)
    return 0


def _observe(name: str, folder: Path, path: Path) -> dict[str, Any] | None:
    if name == "simt":
        from grader import build

        build.prepare(lambda text: print(text, file=sys.stderr))
    out = folder / "seen.json"
    out.unlink(missing_ok=True)
    command = [sys.executable, "-P", "-m", "grader.profile.observe", name, str(folder / "call.py"), str(out)]
    paths = [str(lessons.course_root()), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run([*command, str(path)], env=env, check=False)
    if done.returncode or not out.exists():
        print(
            f"course: {path.name} could not be profiled; grade it first, course check says more.",
            file=sys.stderr,
        )
        return None
    seen: dict[str, Any] = json.loads(out.read_text())
    out.unlink()
    return seen


def _tell(console: Console, rows: list[Row], seen: dict[str, Any], scaled: bool, card: roofline.Card) -> None:
    counted = seen["backend"] == "simt"
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("kernel", "grid", "block", "launches", "read", "written", "sectors/request", "us"):
        table.add_column(name, justify="left" if name in ("kernel", "grid", "block") else "right")
    for r in rows:
        sizes = (
            [f"{r.read_bytes:,}", f"{r.written_bytes:,}", f"{r.sectors:.2f}"] if counted else ["-", "-", "-"]
        )
        table.add_row(r.kernel, r.grid, r.block, str(r.launches), *sizes, f"{r.seconds * 1e6:.2f}")
    console.print(table)
    total = sum(r.seconds for r in rows) * 1e6
    launches = sum(r.launches for r in rows)
    if counted:
        size = "at full size" if scaled else "at this size"
        note = f"bytes counted at a small size; times predicted for {card.name} {size}, not measured"
    else:
        note = f"medians of {seen['calls']} calls, torch.profiler on {seen['device']}"
    console.print(Text(f"{launches} launches, {total:.2f} us in all ({note})", style="dim"))


def _lines(console: Console, launches: list[dict[str, Any]]) -> None:
    found = kernels.lines(launches)
    if found:
        console.print(
            "\nLines with the most traffic (sectors of 32 bytes; a warp's request of floats needs 4):"
        )
    for file, line, what, sectors, each in found:
        console.print(
            Text(f"  {Path(file).name}, line {line}: {what}, {sectors:,} sectors, {each:.2f} a request")
        )


def _picture(console: Console, rows: list[Row], task: Any, card: roofline.Card, folder: Path) -> None:
    if not picture.available():
        console.print(Text(f"\n{picture.MISSING}"))
        return
    scale = task.speed.fused_bytes / task.speed.case_bytes if task.speed else 1.0
    picture.draw(rows, card, scale, folder / "roofline.svg")
    console.print(Text(f"\nroofline: {folder / 'roofline.svg'}"))


def _next(console: Console, rows: list[Row], folder: Path) -> None:
    names = "|".join(sorted({r.kernel.split("<")[0].split("(")[0].split()[-1] for r in rows}))
    console.print(Text(f"trace: {folder / 'trace.json'} (open it at ui.perfetto.dev)"))
    console.print("on a GPU, with all counters:")
    command = f"ncu --profile-from-start off --set full -k 'regex:{names}' -o {folder / 'ncu'}"
    print(f"  {command} {Path(sys.executable).name} {folder / 'call.py'}")  # one line, to be copied
