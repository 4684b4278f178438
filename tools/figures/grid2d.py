"""The grid of lesson 03: 7 x 3 blocks of 16 x 16 threads over a matrix of 37 rows and 101 columns, to scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import Sheet
from tools.figures.strokes import arrow

if TYPE_CHECKING:
    from pathlib import Path

ROWS, COLUMNS, SIDE = 37, 101, 16
SCALE, LEFT, TOP = 3.9, 26, 66
CLOSE, AT = 14, (214, 318)  # a thread of the close-up, and where it begins
TITLE = (
    "A matrix of 37 rows and 101 columns under a grid of 7 by 3 blocks of 16 by 16 threads, to scale. The blocks at the "
    "right edge and at the bottom reach past the matrix. A close-up of block (6, 2) shows 5 by 5 threads with an "
    "element: thread (4, 4) owns row 36, column 100, the last; thread (5, 4) beside it must do nothing."
)


def picture(_root: Path) -> str:
    """The whole grid, and its last block enlarged."""
    sheet = Sheet(472, TITLE)
    across, down = -(-COLUMNS // SIDE), -(-ROWS // SIDE)
    block = SIDE * SCALE
    sheet.text(LEFT, 16, f"{across} x {down} blocks over {ROWS} rows and {COLUMNS} columns", "bold")
    sheet.rect(LEFT, TOP, COLUMNS * SCALE, ROWS * SCALE, "pale")
    for by in range(down):
        sheet.text(LEFT - 6, TOP + by * block + 24, str(by), "end soft")
        for bx in range(across):
            if not by:
                sheet.text(LEFT + bx * block + block / 2, TOP - 8, str(bx), "mid soft")
            sheet.rect(LEFT + bx * block, TOP + by * block, block, block, "rule")
    sheet.text(LEFT, TOP - 26, "blockIdx.x, along the columns", "small soft")
    for bx, by in ((0, 0), (5, 0), (6, 2)):
        chosen = (bx, by) == (6, 2)
        x, y = LEFT + bx * block, TOP + by * block
        sheet.rect(x, y, block, block, "as" if chosen else "ink", rx=1)
        sheet.text(x + block / 2, y + 36, f"({bx}, {by})", "mid small bold")
    sheet.text(
        LEFT,
        TOP + down * block + 20,
        "filled: the matrix; outlined only: threads without an element",
        "small soft",
    )
    _close(sheet, LEFT + 6.5 * block, TOP + 3 * block)
    return sheet.svg()


def _close(sheet: Sheet, x: float, y: float) -> None:
    left, top = AT
    arrow(sheet, x, y + 4, x, top - 24, "as")  # past the end of the words on its left
    sheet.text(left, top - 8, "block (6, 2), each thread a square", "small bold")
    rows, columns = ROWS - 2 * SIDE, COLUMNS - 6 * SIDE
    for t in range(10):  # rows of threads; the others are as the last of these
        for s in range(SIDE):
            owns = t < rows and s < columns
            kind = "a" if owns else "b" if (s, t) == (5, 4) else "hollow"
            sheet.rect(left + s * CLOSE, top + t * CLOSE, CLOSE - 2, CLOSE - 2, kind, rx=1)
    said = ("thread (4, 4):", "row 2 * 16 + 4 = 36", "column 6 * 16 + 4 = 100", "the last element")
    for line, words in enumerate(said):
        sheet.text(4, top + 10 + line * 17, words, "small" if line else "bold small")
    arrow(sheet, 162, top + 40, left + 4 * CLOSE + 2, top + 4 * CLOSE + 6)  # green squares lie below it
    for line, words in enumerate(("thread (5, 4):", "row 36, column 101", "no such element:", "do nothing")):
        sheet.text(4, top + 96 + line * 17, words, "small" if line else "bold small")
    arrow(sheet, 132, top + 108, left + 5 * CLOSE + 2, top + 5 * CLOSE, "bs")
