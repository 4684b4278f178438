"""Ten races of a kernel with itself: what an interval tells, and what it does not."""

from __future__ import annotations

from typing import Any

from grader.reports.svg import Sheet
from tools.figures.plot_svg import ticks

WITH = "itself"  # in a series' name
LEFT, RIGHT, ROW = 14, 466, 15


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
    low = min(1.0, *(r["low"] for r in races)) - 0.004
    high = max(1.0, *(r["high"] for r in races)) + 0.004
    holding = sum(r["low"] <= 1 <= r["high"] for r in races)
    sheet = Sheet(
        70 + ROW * len(races),
        f"{len(races)} races of a kernel with itself, a line each: the 95 % interval of the ratio. The line at 1 is where "
        f"both are equally fast; {holding} of the intervals reach it.",
    )

    def x(value: float) -> float:
        return LEFT + float((value - low) / (high - low)) * (RIGHT - LEFT)

    bottom = 30 + ROW * len(races)
    for tick in ticks(low, high):
        sheet.line(x(tick), 26, x(tick), bottom)
        sheet.text(x(tick), bottom + 18, f"{tick:.2f}", "soft small mid")
    sheet.line(x(1), 22, x(1), bottom, "ink", 1.5)
    sheet.text(x(1) + 6, 16, "equally fast", "small")
    for number, race in enumerate(races):
        y = 36 + number * ROW
        kind = "c" if race["low"] <= 1 <= race["high"] else "b"
        sheet.line(x(race["low"]), y, x(race["high"]), y, f"{kind}s", 3)
        sheet.dot(x(race["ratio"]), y, 4, kind)
    about = "one kernel raced with itself, times as fast"
    sheet.text(RIGHT, bottom + 36, about, "soft small end")
    return sheet.svg()
