"""One kind of plot for everything that was measured: a row each, a dot, and the span around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grader.reports.svg import WIDTH, Sheet

LEFT, RIGHT, ROW = 14, WIDTH - 14, 40


@dataclass(frozen=True, slots=True)
class Row:
    """A value with the interval or range around it, both in the plot's unit; ``kind`` names its colour."""

    label: str
    value: float
    low: float
    high: float
    kind: str = "c"


def plot(
    rows: list[Row],
    title: str,
    unit: str,
    mark: float | None = None,
    start: float | None = None,
    digits: int = 3,
) -> str:
    """All ``rows`` on one scale. ``mark`` draws a line at a value, such as 1 for a ratio.

    The scale begins at ``start``, or as near to the data as is round.
    """
    every = [v for r in rows for v in (r.low, r.high, r.value)] + ([mark] if mark is not None else [])
    low = min(every) if start is None else start
    high = max(every)
    spare = (high - low or abs(high) or 1.0) * 0.04
    low, high = (low if start is not None else low - spare), high + spare
    sheet = Sheet(36 + ROW * len(rows), title)

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    bottom = ROW * len(rows) + 6
    for tick in ticks(low, high):
        sheet.line(x(tick), 4, x(tick), bottom)
        sheet.text(_inside(x(tick)), bottom + 20, _said(tick), "soft small mid")
    if mark is not None:
        for number in range(len(rows)):
            sheet.line(x(mark), 25 + number * ROW, x(mark), 43 + number * ROW, "ink", 1.5)
    for number, row in enumerate(rows):
        y = 28 + number * ROW
        sheet.text(LEFT, y - 8, row.label, "small")
        value = f"{row.value:,.{digits}g}" if abs(row.value) < 1000 else f"{row.value:,.0f}"
        sheet.text(RIGHT, y - 8, f"{value} {unit}".strip(), "small end bold")
        sheet.line(x(row.low), y + 6, x(row.high), y + 6, f"{row.kind}s", 4)
        sheet.dot(x(row.value), y + 6, 5, row.kind)
    return sheet.svg()


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round values between ``low`` and ``high``, ``about`` as many as said."""
    step = 10 ** math.floor(math.log10((high - low) / about))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= about + 1)
    first = math.ceil(low / step)
    return [step * k for k in range(first, math.floor(high / step) + 1)]


def _said(value: float) -> str:
    return f"{value:,.6g}" if abs(value) >= 1e-9 else "0"


def _inside(x: float) -> float:
    return min(max(x, LEFT + 14), RIGHT - 14)
