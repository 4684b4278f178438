"""Who owns which element: ten elements, three blocks of four threads, and two threads too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import Sheet

if TYPE_CHECKING:
    from pathlib import Path

SIZE, BLOCK = 10, 4
LEFT, CELL = 14, 36
TITLE = (
    "Three blocks of four threads above an array of ten elements. Threads 0 to 9 point at an element each; the last "
    "two threads of block 2 have none and are stopped by the guard."
)


def picture(_root: Path) -> str:
    """Threads above, elements below, and an arrow from each thread to its own."""
    sheet = Sheet(214, TITLE)
    blocks = -(-SIZE // BLOCK)
    for b in range(blocks):
        x = LEFT + b * (BLOCK * CELL + 8)
        sheet.text(x, 18, f"block {b}", "bold")
        sheet.rect(x - 3, 26, BLOCK * CELL + 3, 60, "hollow", rx=4)
        for t in range(BLOCK):
            i = b * BLOCK + t
            at = x + t * CELL
            owns = i < SIZE
            sheet.rect(at, 30, CELL - 3, 34, "a" if owns else "pale", rx=3)
            sheet.add(
                f'<text x="{at + 16.5}" y="52" class="mid bold" '
                f'style="fill:var(--{"paper" if owns else "soft"})">{t}</text>'
            )
            sheet.text(at + 16.5, 80, f"i={i}", "mid small" + ("" if owns else " soft"))
            if owns:
                sheet.line(at + 16.5, 90, LEFT + i * CELL + 16.5, 134, "as", 1.5)
            else:
                sheet.path(f"M{at + 8} 96 l 16 16 m 0 -16 l -16 16", "bs", 2)
    for i in range(SIZE):
        sheet.rect(LEFT + i * CELL, 136, CELL - 3, 34, "hollow", rx=3)
        sheet.text(LEFT + i * CELL + 16.5, 158, str(i), "mid")
    sheet.text(LEFT + SIZE * CELL + 4, 158, "no more", "soft")
    sheet.text(LEFT, 200, "i = block * 4 + thread, guarded by i < 10", "code")
    return sheet.svg()
