"""Two numbers in two halves each, and the four products of them: lesson 13."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, box

if TYPE_CHECKING:
    from pathlib import Path

TITLE = (
    "A table of products: the two halves of x at its side, the two halves of weight above. high times high and both cross "
    "terms are summed, the cross terms divided by 2048; low times low is left out. The sum of one chunk in float32 "
    "is added to the sum of all chunks, then bias and ReLU follow."
)


def picture(_root: Path) -> str:
    """The four terms as a table, and what becomes of three of them."""
    sheet = Sheet(336, TITLE)
    sheet.text(268, 16, "weight, float32", "mid bold")
    box(sheet, 116, 26, 148, 32, "high")
    box(sheet, 272, 26, 148, 32, "low x 2048")
    sheet.text(4, 68, "x, float32", "bold")
    box(sheet, 4, 76, 104, 44, "high")
    box(sheet, 4, 128, 104, 44, "low x 2048")
    box(sheet, 116, 76, 148, 44, "high * high", kind="a")
    box(sheet, 272, 76, 148, 44, "cross term", kind="c")
    box(sheet, 116, 128, 148, 44, "cross term", kind="c")
    sheet.rect(272, 128, 148, 44, "hollow", rx=4)
    sheet.text(346, 155, "too small: left out", "mid small soft")
    sheet.path("M424 98 H446 V196 H300 m 7 -4 l -7 4 l 7 4", "cs", 1.5)
    sheet.text(440, 214, "/ 2048", "end small")
    arrow(sheet, 190, 174, 190, 186, "cs")
    sheet.path("M112 98 h -4 V196 h 8 m -7 -4 l 7 4 l -7 4", "as", 1.5)
    box(sheet, 118, 188, 178, 40, "sum of one chunk", "float32")
    arrow(sheet, 207, 230, 207, 250)
    sheet.text(216, 245, "promoted, chunk after chunk", "small soft")
    box(sheet, 118, 254, 178, 40, "sum of all chunks", "float32")
    arrow(sheet, 298, 274, 334, 274)
    box(sheet, 338, 254, WIDTH - 342, 40, "bias, ReLU", kind="pale")
    return sheet.svg()
