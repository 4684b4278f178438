"""The measured parts of docs/results/ladder.md and its pictures; tests/ladder holds them to the results.

    python3 -m benchmarks.ladder_page [OUT/ladder_h200.json ...]

The parts of each file that is named go into the committed results first, except those that failed.
Code and single numbers of the page are written by ``course dev generate``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import ladder, ladder_beside, ladder_plots, ladder_tables
from benchmarks.ladder_parts.files import RUNGS, TF32_ALLOWED

ROOT = Path(__file__).resolve().parent.parent
PAGE, RESULTS = ROOT / "docs/results/ladder.md", ROOT / "benchmarks/results"
RUNG_PICTURE, CHUNK_PICTURE = ROOT / "docs/assets/ladder.svg", ROOT / "docs/assets/ladder_chunks.svg"
MARKED = re.compile(r"(<!-- measured: ([\w-]+) (\w+) -->\n).*?(<!-- /measured -->)", re.S)
MISSING = "*Not measured yet.*"
Section = Callable[[dict[str, Any]], list[str]]
# What a section shows, and the parts of the results that it needs.
SECTIONS: dict[str, tuple[Section, tuple[str, ...]]] = {
    "ladder": (ladder_tables.ladder, ("times", "errors")),
    "cold": (ladder_tables.cold, ("cold",)),
    "microseconds": (ladder_tables.microseconds, ("times", "ncu")),
    "kernels": (ladder_tables.kernels, ("times", "ncu")),
    "chunks": (ladder_tables.chunks, ("chunks",)),
    "shapes": (ladder_tables.shapes, ("shapes",)),
    "cutlass": (ladder_tables.cutlass, ("cutlass",)),
    "unkind": (ladder_tables.unkind, ("errors",)),
    "not-finite": (ladder_tables.not_finite, ("errors",)),
    "elementwise": (ladder_beside.elementwise, ("elementwise",)),
    "sanitizer": (ladder_beside.sanitizer, ("sanitize",)),
    "check": (ladder_beside.check, ("check",)),
    "race": (ladder_beside.race, ("race",)),
}


def results(card: str) -> dict[str, Any]:
    """What was measured on a card; empty if nothing was."""
    at = RESULTS / f"ladder_{card}.json"
    found: dict[str, Any] = json.loads(at.read_text("utf-8")) if at.exists() else {}
    return found


def filled(page: str) -> str:
    """The page with what is between its marks, ``measured: SECTION CARD``, made anew."""
    return MARKED.sub(lambda m: f"{m[1]}{section(m[2], m[3])}\n{m[4]}", page)


def section(name: str, card: str) -> str:
    """One section for one card, or a sentence where a part of it was not measured there or failed."""
    make, parts = SECTIONS[name]
    data = results(card)
    if any(part not in data or "failed" in data[part] for part in parts):
        return MISSING
    return "\n".join(make(data)).strip() or MISSING


def pictures() -> dict[Path, str]:
    """Both pictures, from the results of the H200."""
    data = results("h200")
    times, errors = data["times"], data["errors"]["full"]
    points = {
        label: [(times[m][label]["us"], errors[m][label]) for m in ("relu", "sigmoid")]
        for label in (*RUNGS, TF32_ALLOWED)
        if label in times["relu"]
    }
    return {
        RUNG_PICTURE: ladder_plots.rungs(points),
        CHUNK_PICTURE: ladder_plots.chunks(data["chunks"][:-1], ["32", "64", "128", "256", "1024"]),
    }


def taken(new: Path) -> None:
    """Put what a run measured beside, or in the place of, what is in the results."""
    found = json.loads(new.read_text("utf-8"))
    for part, how in found["how"].items():
        if "failed" not in found[part]:
            ladder.keep(RESULTS / new.name, part, how, found[part])


def main() -> None:
    """Take in new results, and write the page and its pictures."""
    for name in sys.argv[1:]:
        taken(Path(name))
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
    for path, svg in pictures().items():
        path.write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
