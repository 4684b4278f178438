"""How often lesson 08's operations pass over a matrix: three kernels, and one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, box

if TYPE_CHECKING:
    from pathlib import Path

BOX, HIGH = 124, 34
APART = (("sigmoid", ("t",), "a"), ("times scale", ("a",), "b"), ("plus t", ("b", "t"), "out"))
TITLE = (
    "Three kernels above device memory: sigmoid reads t and writes a, times scale reads a and writes b, plus t reads b and "
    "t and writes out, which makes 7 passes over a matrix. Below, one kernel reads t and writes out: 2 passes."
)


def picture(_root: Path) -> str:
    """Each arrow is one pass over a matrix."""
    sheet = Sheet(316, TITLE)
    sheet.text(4, 18, "three kernels, 7 passes over a matrix", "bold")
    for k, kernel in enumerate(APART):
        _kernel(sheet, 12 + k * (BOX + 38), 30, kernel, BOX)
    _memory(sheet, 122)
    sheet.text(4, 190, "one kernel, 2 passes", "bold")
    _kernel(sheet, 12, 202, ("sigmoid, scale, residual", ("t",), "out"), 448)
    _memory(sheet, 294)
    return sheet.svg()


def _kernel(sheet: Sheet, x: float, y: float, kernel: tuple[str, tuple[str, ...], str], wide: float) -> None:
    words, reads, writes = kernel
    kind = "b" if kernel in APART else "a"
    box(sheet, x, y, wide, HIGH, words, kind=kind)
    low, high = y + 90 - 16, y + HIGH + 3
    for k, name in enumerate(reads):
        at = x + 16 + k * 34
        arrow(sheet, at, low, at, high)
        sheet.text(at + 5, high + 24, name, "small")
    arrow(sheet, x + wide - 16, high, x + wide - 16, low)
    sheet.text(x + wide - 21, high + 24, writes, "small end")


def _memory(sheet: Sheet, y: float) -> None:
    sheet.rect(4, y - 14, WIDTH - 8, 30, "pale", rx=4)
    sheet.text(WIDTH / 2, y + 6, "device memory", "mid soft")
