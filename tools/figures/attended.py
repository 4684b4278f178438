"""One block's way through the scores of attention, tile by tile: lesson 16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import Sheet
from tools.figures.strokes import arrow

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS, TILES, QUERIES, KEYS = 8, 4, 16, 32
SHOWN, AT = 5, 1  # the block that is drawn, and the tile that it is at
LEFT, TOP, WIDE, HIGH = 72, 62, 64, 26
TITLE = (
    "The scores of 128 queries and 128 keys as a square that is never stored: eight blocks of 16 queries, four tiles of 32 keys. "
    "The sixth block has been through the first tile, is at the second, and keeps for each of its queries the largest score, "
    "the sum and a total. Tiles above the diagonal are seen by no query of their block, and are skipped."
)


def picture(_root: Path) -> str:
    """A square of tiles, one row of it being walked along."""
    sheet = Sheet(298, TITLE)
    sheet.text(LEFT, 18, "keys and values, in tiles of 32", "bold")
    for tile in range(TILES):
        sheet.rect(LEFT + tile * WIDE, 28, WIDE - 3, 20, "c" if tile == AT else "pale", rx=2)
    sheet.text(4, TOP + 14, "queries,", "bold")
    sheet.text(4, TOP + 30, "16 a", "small")
    sheet.text(4, TOP + 46, "block", "small")
    for block in range(BLOCKS):
        y = TOP + block * HIGH
        seen = -(-(block + 1) * QUERIES // KEYS)
        for tile in range(TILES):
            kind = "pale" if tile < seen else "hollow"
            if block == SHOWN and tile <= AT:
                kind = "c" if tile == AT else "a"
            sheet.rect(LEFT + tile * WIDE, y, WIDE - 3, HIGH - 3, kind, rx=2)
    end = (LEFT + TILES * WIDE - 3, TOP + BLOCKS * HIGH - 3)
    sheet.line(LEFT, TOP, *end, "ink", 1.5)
    y = TOP + SHOWN * HIGH
    sheet.text(LEFT + WIDE / 2 - 2, y + 16, "done", "small mid on")
    sheet.text(LEFT + AT * WIDE + WIDE / 2 - 2, y + 16, "here", "small mid on")
    arrow(sheet, LEFT + AT * WIDE + WIDE / 2, 50, LEFT + AT * WIDE + WIDE / 2, y - 3, "cs")
    x = LEFT + TILES * WIDE + 24
    sheet.rect(x, TOP, 20, 14, "hollow", rx=2)
    sheet.text(x + 26, TOP + 12, "skipped", "small bold")
    sheet.text(x, TOP + 28, "no query of the", "small soft")
    sheet.text(x, TOP + 44, "block sees them", "small soft")
    arrow(sheet, x - 22, y + HIGH / 2, x - 4, y + HIGH / 2)
    sheet.text(x, y - 18, "kept for a query:", "small bold")
    for k, words in enumerate(("largest score", "sum of shares", "total of values")):
        sheet.rect(x, y - 10 + k * 20, 124, 17, "pale", rx=2)
        sheet.text(x + 6, y + 3 + k * 20, words, "small")
    sheet.text(LEFT, end[1] + 24, "scores: computed tile by tile, never stored", "small soft")
    return sheet.svg()
