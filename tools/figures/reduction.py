"""A sum of eight numbers by a tree: the example of the page on adding a lesson."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import Sheet
from tools.figures.strokes import arrow

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = (3, 1, 4, 1, 5, 9, 2, 6)
LEFT, CELL, ROW = 100, 46, 66
TITLE = (
    "Eight numbers, a thread each, become one in three steps. In each step half of the threads that are left add the number "
    "of a partner to their own; a barrier lies between two steps. At the end the first thread holds the sum."
)


def picture(_root: Path) -> str:
    """A row a step, a line from each number to the sum that it goes into."""
    rows = [list(NUMBERS)]
    while len(rows[-1]) > 1:
        half = len(rows[-1]) // 2
        rows.append([a + b for a, b in zip(rows[-1][:half], rows[-1][half:], strict=True)])
    sheet = Sheet(ROW * (len(rows) - 1) + 50, TITLE)
    for k, row in enumerate(rows):
        y = 8 + k * ROW
        sheet.text(LEFT - 10, y + 20, f"{len(row)} thread{'s' if len(row) > 1 else ''}", "end soft")
        for t, number in enumerate(row):
            sheet.rect(LEFT + t * CELL, y, CELL - 6, 30, "a" if k else "pale", rx=3)
            sheet.text(LEFT + t * CELL + 20, y + 20, str(number), "mid bold on" if k else "mid bold")
        for t in range(len(row) if k + 1 < len(rows) else 0):
            to = t % (len(row) // 2)
            arrow(sheet, LEFT + t * CELL + 20, y + 33, LEFT + to * CELL + 20, y + ROW - 3, "rule")
    return sheet.svg()
