"""The two levels on which lesson 12 fetches a number once and uses it often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, box

if TYPE_CHECKING:
    from pathlib import Path

TITLE = (
    "Three memories, one below the other. Global memory holds x and weight; 64 rows of each are fetched once for a tile of "
    "64 by 64 outputs, 16 columns at a time, into shared memory. From there each thread takes 4 and 4 numbers into "
    "registers, once for 4 products each, and keeps 16 sums. After the last step bias, ReLU and residual follow, then out."
)


def picture(_root: Path) -> str:
    """Global memory, shared memory, registers, and the way back."""
    sheet = Sheet(424, TITLE)
    sheet.text(4, 18, "global memory", "bold")
    for x, name in ((4, "x"), (164, "weight")):
        sheet.rect(x, 28, 140, 84, "pale")
        sheet.rect(x, 56, 140, 28, "hollow")
        sheet.rect(x + 42, 56, 14, 28, "a")
        sheet.text(x + 6, 46, name, "small")
        sheet.text(x + 62, 75, "64 rows", "small soft")
    sheet.rect(340, 28, 132, 84, "pale")
    sheet.rect(366, 56, 28, 28, "b")
    sheet.text(346, 46, "out", "small")
    sheet.text(400, 75, "64 x 64", "small soft")
    arrow(sheet, 53, 114, 53, 152)
    arrow(sheet, 213, 114, 213, 152)
    sheet.text(66, 138, "once for a tile", "small")
    sheet.text(4, 176, "shared memory", "bold")
    for x, name in ((4, "64 x 16 of x"), (164, "64 x 16 of weight")):
        for row in range(8):
            sheet.rect(x, 186 + row * 8, 70, 7, "a" if row == 3 else "pale")
        sheet.text(x + 76, 222, name, "small soft")
    arrow(sheet, 39, 252, 39, 290)
    arrow(sheet, 199, 252, 199, 290)
    sheet.text(52, 276, "once for 4 products", "small")
    sheet.text(4, 312, "registers of one thread", "bold")
    for k in range(4):
        sheet.rect(24 + k * 20, 322, 18, 12, "a")
        sheet.rect(4, 338 + k * 20, 14, 18, "a")
        for j in range(4):
            sheet.rect(24 + k * 20, 338 + j * 20, 18, 18, "b")
    sheet.text(116, 350, "4 + 4 numbers,", "small soft")
    sheet.text(116, 368, "16 sums", "small soft")
    arrow(sheet, 212, 362, 268, 362)
    sheet.text(240, 336, "at the end", "mid small")
    box(sheet, 272, 338, WIDTH - 276, 48, "epilogue", "+ bias, ReLU, + residual", "c")
    arrow(sheet, 380, 334, 380, 88, "bs")
    return sheet.svg()
