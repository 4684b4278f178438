"""``course compare a.py b.py --reference ref.py``: several candidates for one problem, as one table."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.domain import disk, gpu_card
from grader.domain import speed as speeds
from grader.domain.errors import BadInputError
from grader.domain.speed import Measured, NoSpeed
from grader.domain.verdict import Verdict
from grader.profiling.compare_picture import Entry

if TYPE_CHECKING:
    from grader.referee.pairs.several import Place
    from grader.referee.timing.interval import Interval

NEAR = 0.05  # predictions that lie closer than this are not told apart
PREDICTED = (
    "No clock was read: the times are predicted from what was counted, without an interval. Predictions "
    "within 5 % of each other share a group; only a GPU's clock can tell those apart."
)
MEASURED = (
    "One race on this GPU: blocks of all candidates and of eager PyTorch in turns. Intervals hold with 95 %; "
    "candidates whose direct comparison leaves open which is faster share a rank."
)
Direct: TypeAlias = "dict[tuple[int, int], Interval]"


def entry(name: str, verdict: Verdict, number: int = 0) -> Entry:
    """What a verdict says of a candidate's speed."""
    speed = speeds.claimed(verdict.speed)
    if not verdict.ok or speed is None:
        return Entry(name, verdict, None, 0.0, 0.0, number)
    ratio = speed.whole_ratio
    if isinstance(speed, Measured):
        low, high = speed.interval
        return Entry(name, verdict, ratio, low, high, number)
    return Entry(name, verdict, ratio, ratio / (1 + NEAR), ratio * (1 + NEAR), number)


def groups(entries: list[Entry], direct: Direct | None = None) -> list[list[Entry]]:
    """Those with a speed, fastest first; one that the data cannot tell from a group's fastest joins it.

    ``direct``: comparisons of two candidates in one race, by their numbers; without one it counts whether
    the intervals against eager overlap.
    """
    found: list[list[Entry]] = []
    for one in sorted((e for e in entries if e.ratio), key=lambda e: -(e.ratio or 0.0)):
        if found and _alike(found[-1][0], one, direct or {}):
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _alike(fast: Entry, slow: Entry, direct: Direct) -> bool:
    known = direct.get((fast.number, slow.number))
    if known is not None:
        return known.outcome != "faster"
    return slow.high >= fast.low


def show(console: Console, entries: list[Entry], direct: Direct | None = None) -> None:
    """The table: rank, candidate, time, ratio, interval; then those without a speed."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("rank", "candidate", "time", "times as fast as eager", "between"):
        grid.add_column(head, justify="left" if head == "candidate" else "right")
    place, measured = 1, False
    for group in groups(entries, direct):
        for one in group:
            raced = isinstance(one.verdict.speed, Measured)
            measured |= raced
            span = f"{one.low:.3f} to {one.high:.3f}" if raced else "-"
            grid.add_row(str(place), one.name, f"{one.seconds * 1e6:.2f} us", f"{one.ratio:.3f}", span)
        place += len(group)
    for one in entries:
        if one.ratio is None:
            grid.add_row(
                "-", one.name, "-", str(one.verdict.status), Text(_why_not(one.verdict)[:300], "dim")
            )
    console.print(grid)
    console.print(Text(MEASURED if measured else PREDICTED, "dim"))


def _why_not(verdict: Verdict) -> str:
    """Why a candidate has no rank."""
    bad = next((f for f in verdict.findings if not f.ok), None)
    if bad:
        return f"{bad.id}: {bad.message}"
    return verdict.speed.why if isinstance(verdict.speed, NoSpeed | Measured) else "no speed"


def as_json(
    entries: list[Entry],
    direct: Direct | None = None,
    stages: dict[str, float] | None = None,
    each: Sequence[dict[str, float]] = (),
    *,
    complete: bool = True,
) -> dict[str, object]:
    """Ranks, comparisons of two, and every verdict; seconds of the whole, and of each by its number.

    Not ``complete``: some may be missing, and nothing was timed yet.
    """
    named = {e.number: e.name for e in entries}
    ranks: dict[str, int] = {}
    for group in groups(entries, direct):
        ranks |= dict.fromkeys((e.name for e in group), len(ranks) + 1)
    listed = [
        {"name": e.name, "rank": ranks.get(e.name), "ratio": e.ratio, "verdict": e.verdict.as_json()}
        | ({"stages": each[e.number]} if each else {})
        for e in entries
    ]
    compared = [
        {"fast": named[a], "slow": named[b], **asdict(found), "outcome": found.outcome}
        for (a, b), found in (direct or {}).items()
    ]
    return {
        "schema": "inline-to-fused/compare/v1", "complete": complete, "stages": stages or {},
        "candidates": listed, "compared": compared,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for beside the table. ``card``: predicted for without a GPU."""

    json: str = ""
    picture: str = ""
    card: str = gpu_card.DEFAULT
    sandbox: str = "auto"


def run(files: list[Path], reference: Path, backend_name: str, wanted: Wanted | None = None) -> int:
    """Grade and time every candidate; 0 if all of them passed."""
    from grader.backends import detect as backend
    from grader.profiling import compare_picture as picture
    from grader.referee.pairs import contest
    from grader.referee.pairs.pair_job import Options, job
    from grader.reports.console import screen

    wanted = wanted or Wanted()
    gpu_card.card(wanted.card)  # says which there are
    if wanted.picture and not wanted.picture.endswith(".svg"):
        raise BadInputError(f"The picture is SVG: call it {Path(wanted.picture).stem}.svg.")
    choice = backend.choose(backend_name)
    given = Options(card=wanted.card.lower())
    jobs = [replace(job(reference, path, choice, given), sandbox=wanted.sandbox) for path in files]
    plain = [p.name for p in files]
    names = [p.name if plain.count(p.name) == 1 else str(p) for p in files]
    judged = _Judged(names, wanted.json)
    done = contest.contest(jobs, judged.hear)
    entries = [entry(names[n], verdict, n) for n, verdict in enumerate(done.verdicts)]
    show(screen(), entries, done.direct)
    if wanted.json:
        _write(wanted.json, as_json(entries, done.direct, done.stages, done.each))
    if wanted.picture and not picture.write(Path(wanted.picture), entries, wanted.card.lower()):
        screen().print(Text("No candidate has a speed, so there is no roofline to draw.", "yellow"))
    return 0 if all(e.verdict.ok for e in entries) else 1


class _Judged:
    """Says on standard error what has been graded, and keeps it as JSON, should the rest be cut off."""

    def __init__(self, names: list[str], json: str) -> None:
        self._names, self._json, self._begun = names, json, time.monotonic()
        self._entries: list[Entry] = []
        self._heard = 0

    def hear(self, place: Place) -> None:
        """One more."""
        self._heard += 1
        verdict = place.judged or place.verdict
        said = verdict.status if verdict else "no verdict"
        count, seconds = f"{self._heard} of {len(self._names)}", time.monotonic() - self._begun
        typer.echo(f"{count} graded after {seconds:.0f} s: {self._names[place.number]} ({said})", err=True)
        if verdict and self._json:
            self._entries.append(entry(self._names[place.number], verdict, place.number))
            self._entries.sort(key=lambda e: e.number)
            _write(self._json, as_json(self._entries, complete=False))


def _write(path: str, found: dict[str, object]) -> None:
    disk.write(Path(path), json.dumps(found, indent=1) + "\n", sync=True)


def register(app: typer.Typer) -> None:
    """Add the verb."""

    @app.command()
    def compare(
        files: Annotated[list[Path], typer.Argument(help="The candidates: files with ModelNew.")],
        reference: Annotated[
            Path | None, typer.Option(help="The reference that all of them are held against.")
        ] = None,
        backend: Annotated[str, typer.Option(help="auto, cuda (a GPU) or simt (this CPU).")] = "auto",
        json: Annotated[str, typer.Option(help="Also write ranks and verdicts as JSON to this file.")] = "",
        picture: Annotated[str, typer.Option(help="Also draw the roofline into this file (SVG).")] = "",
        card: Annotated[str, typer.Option(help="Without a GPU: the one to predict for.")] = gpu_card.DEFAULT,
        sandbox: Annotated[str, typer.Option(help="auto, strict or off, as for check.")] = "auto",
    ) -> None:
        """Grade several candidates for one problem, and rank those that the data can tell apart."""
        if reference is None:
            raise BadInputError(
                "compare holds several files against one reference: name it with --reference REFERENCE.py. "
                "A lesson's file is timed by `course check 07 --time`, the lessons' solutions by "
                "`course bench 07`."
            )
        raise typer.Exit(run(files, reference, backend, Wanted(json, picture, card, sandbox)))
