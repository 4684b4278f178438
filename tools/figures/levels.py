"""What one line of each dialect is about: tensors, blocks, threads. Lesson 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from pathlib import Path

LEFT, ELEMENTS = 4, 32
LEVELS = (  # who, what it is about, its line, elements of one piece
    ("torch.compile", "you write tensors", "y = sigmoid(x) * s + x", 32),
    ("Triton", "you write blocks", "v = tl.load(x + i, mask)", 8),
    ("CUDA C++ and numba", "you write threads", "v = x[i]", 1),
)
CELL = (WIDTH - 2 * LEFT) / ELEMENTS
TITLE = (
    "One array of 32 elements three times. With torch.compile a line speaks of the whole tensor, with Triton of a block of "
    "8 elements, with CUDA C++ and numba of one element, a thread's. All become PTX and machine code, in which "
    "32 threads run as one warp."
)


def picture(_root: Path) -> str:
    """The same elements, cut as finely as each dialect cuts them."""
    sheet = Sheet(318, TITLE)
    for k, (name, what, line, each) in enumerate(LEVELS):
        y = 4 + k * 88
        sheet.text(LEFT, y + 14, name, "bold")
        sheet.text(WIDTH - LEFT, y + 14, what, "end soft")
        sheet.text(LEFT, y + 36, line, "code")
        for piece in range(ELEMENTS // each):
            kind = "a" if not piece else "pale"
            sheet.rect(LEFT + piece * each * CELL, y + 46, each * CELL - 2, 20, kind, rx=2)
    for x in (WIDTH / 6, WIDTH / 2, WIDTH * 5 / 6):
        sheet.path(f"M{x:.0f} 252 v 16 m -4 -7 l 4 7 l 4 -7", "ink", 1.5)
    sheet.rect(LEFT, 274, WIDTH - 2 * LEFT, 34, "c", rx=4)
    sheet.text(WIDTH / 2, 296, "PTX, then machine code: 32 threads are a warp", "mid bold on")
    return sheet.svg()
