"""Races of a kernel with itself: what an interval tells, and what it does not."""

from __future__ import annotations

from typing import Any

from grader.reports.svg import Sheet
from tools.figures.plot_svg import ticks

WITH = "itself"  # in a series' name
LEFT, RIGHT = 14, 466
FEW = 20  # races; more stand closer


def found(data: dict[str, Any]) -> list[dict[str, float]]:
    """The races of ``clocks.json`` whose ratio should be 1; none if it has no such series."""
    series = data.get("series")
    if not isinstance(series, dict):
        return []
    names = [name for name in series if WITH in name]
    return [r for name in names[:1] for r in series[name].get("races", []) if "ratio" in r and "low" in r]


def picture(data: dict[str, Any]) -> str:
    """One line a race, from the lower to the upper end of its interval, beside the line at 1."""
    races = sorted(found(data), key=lambda r: float(r["ratio"]))
    row, dot = (15, 4.0) if len(races) <= FEW else (4, 1.5)
    cut = len(races) // 50  # a few intervals may be so wide that no other could be seen beside them
    low = min(1.0, sorted(r["low"] for r in races)[cut]) - 0.004
    high = max(1.0, sorted(r["high"] for r in races)[-1 - cut]) + 0.004
    beyond = sum(r["low"] < low or r["high"] > high for r in races)
    holding = sum(r["low"] <= 1 <= r["high"] for r in races)
    sheet = Sheet(
        70 + row * len(races),
        f"{len(races)} races of a kernel with itself, a line each: the 95 % interval of the ratio. The line at 1 is where "
        f"both are equally fast; {holding} of the intervals reach it"
        + (f", {beyond} go on beyond the picture." if beyond else "."),
    )

    def x(value: float) -> float:
        return LEFT + (min(max(value, low), high) - low) / (high - low) * (RIGHT - LEFT)

    bottom = 30 + row * len(races)
    for tick in ticks(low, high):
        sheet.line(x(tick), 26, x(tick), bottom)
        sheet.text(x(tick), bottom + 18, f"{tick:.2f}", "soft small mid")
    sheet.line(x(1), 22, x(1), bottom, "ink", 1.5)
    sheet.text(x(1) + 6, 16, "equally fast", "small")
    for number, race in enumerate(races):
        y = 36 + number * row
        kind = "c" if race["low"] <= 1 <= race["high"] else "b"
        sheet.line(x(race["low"]), y, x(race["high"]), y, f"{kind}s", 3 if len(races) <= FEW else 1)
        sheet.dot(x(race["ratio"]), y, dot, kind)
    about = "one kernel raced with itself, times as fast"
    sheet.text(RIGHT, bottom + 36, about, "soft small end")
    return sheet.svg()
