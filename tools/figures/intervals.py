"""Speedups with their intervals: lesson 07's solution beside the framework, as raced on a GPU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tools import measured
from tools.figures.plot_svg import Row, plot

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "solution_07.json"


def picture(root: Path) -> str:
    """Ratios of the whole model's time, each with its 95 % interval, beside the line where nothing is gained."""
    rows = ratios(root)
    said = "; ".join(f"{r.label}: {r.value:.4f}, from {r.low:.4f} to {r.high:.4f}" for r in rows)
    title = f"Ratios with 95 % intervals, beside a line at 1 for equally fast. {said}."
    return plot(rows, title, "times as fast", mark=1.0, digits=5)


def ratios(root: Path) -> list[Row]:
    """The baselines that take about as long as the solution: ratio, and the ends of its interval."""
    speed = json.loads((root / measured.RESULTS / SOURCE).read_text("utf-8"))["speed"]
    beside = {k: v for k, v in speed["baselines"].items() if 0.5 < v["ratio"] < 2}
    return [
        Row(
            f"lesson 07 against {'eager PyTorch' if name == 'eager' else name}",
            found["ratio"],
            found["interval"][0],
            found["interval"][1],
            "a" if found["outcome"] == "faster" else "b" if found["outcome"] == "slower" else "c",
        )
        for name, found in beside.items()
    ]
