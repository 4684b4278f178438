"""Figures to play with: where they stand on a page, and the data that their JavaScript is given.

A page says ``<div data-explorer="trace" markdown="1">`` around a still picture. On GitHub and without
JavaScript that picture is all there is; on the site ``docs/assets/javascripts/explorer_*.js`` takes over.
The data is written into the page, so nothing has to be fetched and a page works from a file, too.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tools.figures import fusion, timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PLACE = re.compile(r'<div data-explorer="([\w-]+)" markdown="1">')
INNER = 8192  # terms of each element of lesson 07's product
LANES = ("regions of the program", "operators of PyTorch", "calls of the driver", "device")
KINDS = {"user_annotation": 0, "cpu_op": 1, "cuda_runtime": 2, "cuda_driver": 2}
LONGEST = 60  # letters of a kernel's name


def filled(page: str, root: Path) -> str:
    """``page`` with the data of its figures written into it."""

    def one(match: re.Match[str]) -> str:
        make = DATA.get(match[1])
        if make is None:
            return match[0]
        text = json.dumps(make(root), separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        return f'{match[0]}\n\n<script type="application/json">{text}</script>\n'

    return PLACE.sub(one, page)


def cards(root: Path) -> list[dict[str, Any]]:
    """Every card of ``grader/domain/cards`` as name and numbers, without their sources."""
    return [_plain(json.loads(p.read_text("utf-8"))) for p in sorted(root.glob("grader/domain/cards/*.json"))]


def _plain(card: dict[str, Any]) -> dict[str, Any]:
    return {k: v["value"] if isinstance(v, dict) and "value" in v else v for k, v in card.items()}


def _fusion(root: Path) -> dict[str, Any]:
    wanted = ("name", "copy_bytes_per_second", "launch_seconds", "gemm_flops_per_second")
    known = [c for c in cards(root) if c.get("copy_bytes_per_second") and c.get("launch_seconds")]
    known.sort(key=lambda card: "H200" not in card["name"])  # the card of the lessons' numbers first
    programs = [
        {"title": title, "operations": [{"name": o.name, "reads": list(o.reads)} for o in operations]}
        for title, operations in fusion.PROGRAMS.items()
    ]
    return {
        "programs": programs,
        "cards": [{k: c.get(k) for k in wanted} for c in known],
        "inner": INNER,
    }


def _trace(root: Path) -> dict[str, Any]:
    every, about = timeline.events(root)
    rows = sorted(_rows(every), key=lambda r: r[2])
    end = max(start + length for _, _, start, length in rows)
    where = f"{about['steps']} steps of lesson 07's model, eager and fused, recorded by torch.profiler"
    return {
        "lanes": list(LANES),
        "events": rows,
        "end": end,
        "about": f"{where} (torch {about['torch']}) on one {about['device']}.",
    }


def _rows(every: list[dict[str, Any]]) -> Iterator[tuple[int, str, float, float]]:
    """Lane, name, start and length in microseconds; of nested operators only the outermost."""
    until = -1.0
    for e in every:
        if e["name"].startswith("ProfilerStep"):
            continue
        if e["cat"] == "cpu_op":
            if e["ts"] < until:
                continue
            until = e["ts"] + e["dur"]
        yield KINDS.get(e["cat"], len(LANES) - 1), _short(e["name"]), e["ts"], e["dur"]


def _short(name: str) -> str:
    """A kernel's name without the namespaces and arguments that nobody reads."""
    name = re.sub(r"^void |at::native::|\(anonymous namespace\)::", "", name)
    name = re.sub(r"[<(].*", "", name).strip()
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


DATA: dict[str, Callable[[Path], dict[str, Any]]] = {"fusion": _fusion, "trace": _trace}
