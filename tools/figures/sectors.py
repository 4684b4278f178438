"""Sectors of a warp: neighbouring threads at neighbouring addresses, and 32 bytes apart."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.reports.svg import Sheet
from tools.figures.warp import LANES, SECTOR, sectors

if TYPE_CHECKING:
    from pathlib import Path

CELL, GAP, LEFT = 6, 3, 21
COLUMNS = 8  # sectors side by side
FLOATS = SECTOR // 4

TITLE = (
    "Memory as rows of sectors, eight floats each. Above: 32 threads read 32 neighbouring floats, and 4 sectors "
    "are fetched of which everything is used. Below: each thread reads every eighth float, 32 sectors are "
    "fetched, and one float of eight is used."
)


def picture(_root: Path) -> str:
    """Two requests of a warp, one under the other."""
    sheet = Sheet(296, TITLE)
    bottom = _request(sheet, 20, "y[i] = x[i]", 1, rows=1)
    _request(sheet, bottom + 32, "y[i] = x[8 * i]", 8, rows=4)
    _key(sheet, 282)
    return sheet.svg()


def _request(sheet: Sheet, top: float, code: str, stride: int, rows: int) -> float:
    addresses = [4 * stride * t for t in range(LANES)]
    touched = sectors(addresses)
    sheet.text(LEFT, top, code, "code bold")
    bytes_used = sum(touched.values())
    said = f"1 request, {len(touched)} sectors, {bytes_used} of {len(touched) * SECTOR} bytes used"
    sheet.text(LEFT, top + 20, said)
    wanted = Counter(a // 4 for a in addresses)
    for place in range(rows * COLUMNS):
        x = LEFT + place % COLUMNS * (FLOATS * CELL + GAP + 4)
        y = top + 32 + place // COLUMNS * 26
        fetched = place in touched
        used = [k for k in range(FLOATS) if wanted[place * FLOATS + k]]
        rest = "b" if fetched else "pale"
        if len(used) < FLOATS:
            inset = 4.5 if fetched else 0.5
            sheet.rect(x + 0.5, y + inset, FLOATS * CELL - 1, 18 - 2 * inset, rest)
        for k in used:
            sheet.rect(x + k * CELL + 0.5, y + 0.5, CELL - 1, 17, "a")
        sheet.rect(x - 1.5, y - 2, FLOATS * CELL + 3, 22, "ink" if fetched else "rule", rx=2)
    return top + 32 + rows * 26


def _key(sheet: Sheet, y: float) -> None:
    for x, kind, words in ((LEFT, "a", "fetched and used"), (170, "b", "fetched, not used")):
        inset = 0.5 if kind == "a" else 4.5
        sheet.rect(x, y - 13 + inset, CELL - 1, 18 - 2 * inset, kind)
        sheet.text(x + 12, y, words, "soft")
    sheet.rect(321, y - 13, 14, 16, "ink", rx=2)
    sheet.text(341, y, "a sector: 32 bytes", "soft")
