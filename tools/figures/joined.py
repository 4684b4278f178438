"""From many numbers to one: threads, warps, blocks, the grid: lesson 14."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, box

if TYPE_CHECKING:
    from pathlib import Path

LEFT, WARP, CELL, LANES = 4, 74, 8, 8
STEPS = 254  # where the words about a step begin
TITLE = (
    "Four levels of a sum. Each thread has one number, drawn as a small bar. Shuffles make one number of those of a warp, "
    "which goes to shared memory. After a barrier the first warp makes one number of these, that of the block. "
    "Each block adds its number to out by one atomic operation."
)


def picture(_root: Path) -> str:
    """Three warps of a block narrow to a number each, these to one, and that meets those of other blocks."""
    sheet = Sheet(292, TITLE)
    for w in range(3):
        x = LEFT + w * (WARP + 6)
        for t in range(LANES):
            sheet.rect(x + t * (CELL + 1), 8, CELL, 30, "pale", rx=1)
        arrow(sheet, x + WARP / 2, 42, x + WARP / 2, 74, "rule")
        box(sheet, x + 12, 78, WARP - 24, 32, "sum", kind="a")
        arrow(sheet, x + WARP / 2, 114, LEFT + WARP + 6 + WARP / 2 + (w - 1) * 8, 146, "rule")
    box(sheet, LEFT + WARP + 6, 150, WARP, 32, "sum", kind="c")
    arrow(sheet, LEFT + WARP + 6 + WARP / 2, 186, LEFT + WARP + 6 + WARP / 2, 244, "rule")
    for x in (LEFT + 12, LEFT + 2 * WARP + 24):
        sheet.rect(x, 196, WARP - 24, 26, "hollow", rx=3)
        sheet.text(x + WARP / 2 - 12, 213, "block", "mid small soft")
        arrow(
            sheet, x + WARP / 2 - 12, 225, LEFT + WARP + 6 + WARP / 2 + (14 if x > WARP else -14), 246, "rule"
        )
    box(sheet, LEFT + WARP + 6, 250, WARP, 34, "out", kind="pale")
    for y, what, how in (
        (16, "each thread: its own elements", "a loop, a register"),
        (88, "each warp: 32 numbers", "shuffles, no barrier"),
        (160, "each block: one word a warp", "shared memory, one barrier"),
        (260, "the grid: one number a block", "one atomicAdd each"),
    ):
        sheet.text(STEPS, y + 2, what, "small bold")
        sheet.text(STEPS, y + 18, how, "small soft")
    assert STEPS < WIDTH
    return sheet.svg()
