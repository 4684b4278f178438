"""Largest element and sum of exponentials in one pass: what a larger element does to the sum: lesson 15."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from pathlib import Path

ROW = (1, 0, 3, 2, 3, 5, 4)
LEFT, STEP, FLOOR, UNIT = 86, 56, 116, 18
TITLE = (
    "A row of seven elements, read from left to right: 1, 0, 3, 2, 3, 5, 4. Below each stand the largest element so far and the sum "
    "of the exponentials of the distances from it. Where a larger element comes, at 3 and at 5, the sum so far is scaled down first."
)


def picture(_root: Path) -> str:
    """Bars for the elements, and two lines of numbers below them."""
    sheet = Sheet(196, TITLE)
    for y, words in ((FLOOR - 4, "element"), (FLOOR + 30, "largest"), (FLOOR + 54, "sum")):
        sheet.text(4, y, words, "small bold")
    largest, total = ROW[0], 0.0
    for k, element in enumerate(ROW):
        x, middle = LEFT + k * STEP, LEFT + k * STEP + STEP / 2 - 6
        larger = k > 0 and element > largest
        if larger:
            sheet.text(x - 6, FLOOR + 72, f"{total:.2f} · exp({largest} - {element}) + 1", "small mid soft")
            total *= exp(largest - element)
        largest = max(largest, element)
        total += exp(element - largest)
        high = UNIT * element + 4
        sheet.rect(x, FLOOR - high, STEP - 12, high, "b" if larger else "pale", rx=2)
        sheet.text(middle, FLOOR - high - 5, str(element), "small mid")
        sheet.text(middle, FLOOR + 30, str(largest), "small mid bold" if larger else "small mid")
        sheet.text(middle, FLOOR + 54, f"{total:.2f}", "small mid")
    sheet.line(LEFT - 6, FLOOR + 0.5, WIDTH - 4, FLOOR + 0.5)
    return sheet.svg()
