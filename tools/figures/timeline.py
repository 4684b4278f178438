"""Launches on two lanes, host and device, from the trace that lesson 05 asks about: recorded on a GPU."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from grader.reports.svg import Sheet

if TYPE_CHECKING:
    from pathlib import Path

TRACE = "lessons/05_profiling/data/trace.json.gz"
LEFT, WIDE = 14, 452
ZOOM = 60.0  # microseconds of the close-up
SMALL = {  # what a kernel of the framework is called here
    "launch_clamp_scalar": "relu",
    "CUDAFunctor_add": "+ bias",
}


def events(root: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All events of the recorded trace in order of time, and where it was recorded."""
    with gzip.open(root / TRACE, "rt") as file:
        trace = json.load(file)
    about = {"device": trace["deviceProperties"][0]["name"], **trace["recorded"]}
    return trace["traceEvents"], about


def picture(root: Path) -> str:
    """One step in whole, then what follows its first product at a larger scale.

    How long the fused kernel takes beside the two small ones is what lesson 07 asks to predict, so it is not shown.
    """
    every, about = events(root)
    step = next(e for e in every if e["name"].startswith("ProfilerStep"))
    end = step["ts"] + step["dur"]
    inside = [e for e in every if step["ts"] <= e["ts"] < end]
    regions = [e for e in inside if e["cat"] == "user_annotation" and e is not step]
    kernels = [e for e in inside if e["cat"] in ("kernel", "gpu_memcpy")]
    launched = max(e["ts"] + e["dur"] for e in inside if e["name"].startswith("cudaLaunch"))
    sheet = Sheet(
        270,
        f"One step of a recorded trace on two lanes. The host has asked for all its kernels after {launched:,.0f} "
        f"microseconds and then waits; the device is busy until {end:,.0f}, nearly all of it with two matrix products. "
        "A close-up shows two small kernels after the first product.",
    )
    scale = WIDE / step["dur"]
    for y, name in ((34, "host"), (92, "device")):
        sheet.text(LEFT, y - 8, name, "bold")
        sheet.rect(LEFT, y, WIDE, 26, "pale")
    for e in regions:
        waits = e["name"] == "compare"
        _box(sheet, e, step["ts"], scale, 34, 26, "hollow" if waits else "c")
    sheet.text(LEFT + launched * scale + 16, 52, "waits for the result", "soft")
    for e in kernels:
        _box(sheet, e, step["ts"], scale, 92, 26, "a" if "gemm" in e["name"] else "b")
    products = [e for e in kernels if "gemm" in e["name"]]
    for e, words in zip(products, ("product, eager", "product, fused"), strict=True):
        middle = LEFT + (e["ts"] - step["ts"] + e["dur"] / 2) * scale
        sheet.add(f'<text x="{middle:.1f}" y="110" class="mid bold" style="fill:var(--paper)">{words}</text>')
    sheet.text(LEFT, 138, "0", "soft small")
    sheet.text(LEFT + WIDE, 138, f"{step['dur'] / 1000:.1f} ms", "soft small end")
    _close(sheet, kernels, products[0], 176)
    sheet.text(LEFT, 258, f"Recorded on one {about['device']}, torch {about['torch']}.", "soft small")
    return sheet.svg()


def _close(sheet: Sheet, kernels: list[dict[str, Any]], product: dict[str, Any], y: float) -> None:
    start = product["ts"] + product["dur"] - 6
    scale = WIDE / ZOOM
    sheet.text(LEFT, y - 6, f"after the product, eager: {ZOOM:.0f} us of the device", "bold")
    sheet.rect(LEFT, y, WIDE, 26, "pale")
    following = [k for k in kernels if k["ts"] > product["ts"]]
    sheet.text(LEFT + 2, y + 40, "product", "small soft")
    _box(sheet, {"ts": start, "dur": 6}, start, scale, y, 26, "a")
    for e in following[:2]:
        _box(sheet, e, start, scale, y, 26, "b")
        words = next(v for k, v in SMALL.items() if k in e["name"])
        middle = LEFT + (e["ts"] - start + e["dur"] / 2) * scale
        sheet.text(middle, y + 40, words, "mid small")


def _box(
    sheet: Sheet, e: dict[str, Any], zero: float, scale: float, y: float, high: float, kind: str
) -> None:
    x = LEFT + (e["ts"] - zero) * scale
    sheet.rect(x, y, max(1.0, min(e["dur"] * scale, LEFT + WIDE - x)), high, kind)
