"""Boxes with words and arrows between them, as several pictures need them."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.reports.svg import Sheet


def box(  # noqa: PLR0913
    sheet: Sheet, x: float, y: float, wide: float, high: float, words: str, more: str = "", kind: str = "pale"
) -> None:
    """A box with one or two lines in its middle; on a full colour the letters have the paper's."""
    sheet.rect(x, y, wide, high, kind, rx=4)
    middle = x + wide / 2
    rows = [(words, "mid bold"), *([(more, "mid small")] if more else [])]
    for k, (text, name) in enumerate(rows):
        at = y + high / 2 + 5 + (k * 17 - 8.5 if more else 0)
        sheet.text(middle, at, text, f"{name} on" if kind in ("a", "b", "c") else name)


def arrow(sheet: Sheet, x1: float, y1: float, x2: float, y2: float, kind: str = "ink") -> None:
    """A line whose tip is at the second point."""
    sheet.line(x1, y1, x2, y2, kind, 1.5)
    long = hypot(x2 - x1, y2 - y1)
    u, v = (x2 - x1) / long * 6, (y2 - y1) / long * 6
    sheet.path(f"M{x2 - u - v / 1.6:.1f} {y2 - v + u / 1.6:.1f} L{x2:.1f} {y2:.1f} L{x2 - u + v / 1.6:.1f} "
               f"{y2 - v - u / 1.6:.1f}", kind, 1.5)  # fmt: skip


def axis(sheet: Sheet, left: float, right: float, y: float, words: str) -> None:
    """Time, from left to right."""
    arrow(sheet, left, y, right, y, "rule")
    sheet.text(right, y + 16, words, "end small soft")
