"""Shared memory before and after a barrier: lesson 06."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = (0, 1, 2, None, 31, 32, 33, None, 63)  # threads, and the places of the tile
LEFT, CELL = 78, 44
TITLE = (
    "64 threads, 0 to 63, above the 64 places of tile. Before the barrier each thread writes the place of its own number. "
    "Then comes a bar across all: __syncthreads, all 64 meet here. After it each thread reads the place half a block "
    "away: thread 0 reads tile[32], thread 1 reads tile[33], thread 32 reads tile[0]."
)


def picture(_root: Path) -> str:
    """Threads, tile, barrier, tile's readers, one below the other."""
    sheet = Sheet(286, TITLE)
    for y, words in ((26, "threads"), (96, "tile"), (234, "threads")):
        sheet.text(LEFT - 12, y + 19, words, "end bold")
        _row(sheet, y, "a" if words == "threads" else "pale")
    for k, number in enumerate(SHOWN):
        if number is not None:
            arrow(sheet, _x(k), 58, _x(k), 92, "as")
    sheet.text(LEFT, 16, "each thread writes its own place", "small soft")
    sheet.rect(4, 142, WIDTH - 8, 26, "c", rx=3)
    sheet.text(WIDTH / 2, 160, "__syncthreads(): all 64 meet here", "mid bold on")
    for reader, place in ((0, 32), (1, 33), (32, 0)):
        arrow(sheet, _x(SHOWN.index(place)), 172, _x(SHOWN.index(reader)), 230, "bs")
    sheet.text(LEFT, 282, "each thread reads the place of another", "small soft")
    return sheet.svg()


def _x(k: int) -> float:
    return LEFT + k * CELL + CELL / 2 - 2


def _row(sheet: Sheet, y: float, kind: str) -> None:
    for k, number in enumerate(SHOWN):
        if number is None:
            sheet.text(_x(k), y + 18, "...", "mid soft")
        else:
            sheet.rect(LEFT + k * CELL, y, CELL - 4, 28, kind, rx=3)
            sheet.text(_x(k), y + 19, str(number), "mid bold on" if kind == "a" else "mid")
