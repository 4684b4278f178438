"""``course compare a.py b.py --reference ref.py``: several candidates for one problem, as one table."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich.table import Table
from rich.text import Text

from grader.backends import detect
from grader.domain import disk
from grader.domain import speed as speeds
from grader.domain.errors import BadInputError
from grader.domain.speed import Measured, NoSpeed
from grader.profiling import compare_picture
from grader.profiling.compare_picture import Entry
from grader.referee import pipeline
from grader.referee.pairs import contest, pair_job
from grader.referee.timing.interval import Interval
from grader.reports.console import screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from grader.domain.options import GradingOptions
    from grader.domain.verdict import Verdict
    from grader.referee.pairs.several import Place

NEAR = 0.05  # predictions that lie closer than this are not told apart
PREDICTED = (
    "No clock was read: the times are predicted from what was counted, without an interval. Predictions "
    "within 5 % of each other share a group; only a GPU's clock can tell those apart."
)
MEASURED = (
    "One race on this GPU: blocks of all candidates and of eager PyTorch in turns. Intervals hold with 95 %; "
    "candidates whose direct comparison leaves open which is faster share a rank."
)
Direct: TypeAlias = dict[tuple[int, int], Interval]


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


def run(
    files: list[Path], reference: Path, options: GradingOptions, json_file: str = "", picture: str = ""
) -> int:
    """Grade and time every candidate; 0 if all of them passed. ``json_file``, ``picture``: also written."""
    require_svg(picture)
    choice = detect.choose(options.backend)
    jobs = [pipeline.waiting(pair_job.job(reference, path, choice, options)) for path in files]
    named = names(files)
    judged = Judged(named, json_file)
    done = contest.contest(jobs, judged.hear)
    entries = [entry(named[n], verdict, n) for n, verdict in enumerate(done.verdicts)]
    return tell(entries, done.direct, (done.stages, done.each), (json_file, picture), options.card)


def require_svg(picture: str) -> None:
    """BadInputError for a picture of another kind."""
    if picture and not picture.endswith(".svg"):
        raise BadInputError(f"The picture is SVG: call it {Path(picture).stem}.svg.")


def names(files: list[Path]) -> list[str]:
    """What the candidates are called: by their files, or by their paths where two files have one name."""
    plain = [p.name for p in files]
    return [p.name if plain.count(p.name) == 1 else str(p) for p in files]


def tell(
    entries: list[Entry],
    direct: Direct,
    seconds: tuple[dict[str, float], Sequence[dict[str, float]]],
    out: tuple[str, str],
    card: str,
) -> int:
    """Show the table and write what is asked for; 0 if all candidates passed.

    ``seconds``: of the stages of the whole, and of each. ``out``: the file of JSON and the picture, or "".
    """
    show(screen(), entries, direct)
    json_file, picture = out
    if json_file:
        _write(json_file, as_json(entries, direct, *seconds))
    if picture and not compare_picture.write(Path(picture), entries, card):
        screen().print(Text("No candidate has a speed, so there is no roofline to draw.", "yellow"))
    return 0 if all(e.verdict.ok for e in entries) else 1


class Judged:
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
        print(f"{count} graded after {seconds:.0f} s: {self._names[place.number]} ({said})", file=sys.stderr)
        if verdict and self._json:
            self._entries.append(entry(self._names[place.number], verdict, place.number))
            self._entries.sort(key=lambda e: e.number)
            _write(self._json, as_json(self._entries, complete=False))


def _write(path: str, found: dict[str, object]) -> None:
    disk.write(Path(path), json.dumps(found, indent=1) + "\n", sync=True)
