"""Bank conflicts: a warp reads a column of a tile in shared memory, without and with one column of padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import Sheet
from tools.figures.warp import BANKS, LANES, wavefronts

if TYPE_CHECKING:
    from pathlib import Path

CELL = 6.25
TITLE = (
    "Two maps of shared memory: across its 32 banks, down the 32 rows of a tile. In tile[32][32] the column that "
    "a warp reads lies in one bank, and takes 32 turns. In tile[32][33] it runs down diagonally, each element in "
    "a bank of its own, and takes one turn."
)


def picture(_root: Path) -> str:
    """Two maps side by side: which bank holds the element that each thread reads."""
    sheet = Sheet(312, TITLE)
    _map(sheet, 26, 32)
    _map(sheet, 266, 33)
    return sheet.svg()


def _map(sheet: Sheet, left: float, pitch: int) -> None:
    top, side = 52, CELL * BANKS
    words = [row * pitch for row in range(LANES)]  # thread t reads tile[t][0]
    turns = wavefronts(words)
    sheet.text(left, 18, f"tile[32][{pitch}]", "code bold")
    sheet.text(left, 42, "bank 0", "soft small")
    sheet.text(left + side, 42, "31", "soft small end")
    sheet.rect(left, top, side, side, "pale")
    for at in range(0, BANKS + 1, 4):
        sheet.line(left + at * CELL, top, left + at * CELL, top + side)
        sheet.line(left, top + at * CELL, left + side, top + at * CELL)
    kind = "b" if turns > 1 else "a"
    for row, word in enumerate(words):
        sheet.rect(left + word % BANKS * CELL, top + row * CELL, CELL, CELL, kind)
    sheet.add(
        f'<text transform="translate({left - 8} {top + 46}) rotate(-90)" class="soft small end">thread 0</text>'
    )
    sheet.text(left, top + side + 24, f"{turns} {'turn' if turns == 1 else 'turns'} for one request", "bold")
    why = "all 32 wait for bank 0" if turns > 1 else "each thread has its own bank"
    sheet.text(left, top + side + 44, why, "soft")
