"""A launch of lesson 04 on a time axis: the host is done with it at once, the device much later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, axis, box

if TYPE_CHECKING:
    from pathlib import Path

LEFT, SCALE = 66, 0.175  # pixels of a microsecond
LAUNCHED, LAUNCH, STARTS, KERNEL = 60, 5, 220, 2000  # microseconds
TITLE = (
    "Two lanes over one time axis, to scale. On the host a launch is a sliver of 5 microseconds, between two readings of "
    "its clock; the program then goes on. On the device older work ends first, then the kernel runs for 2000 "
    "microseconds, between two events that the device itself puts down."
)


def picture(_root: Path) -> str:
    """Both lanes, and the host's sliver enlarged."""
    sheet = Sheet(304, TITLE)
    at = LEFT + LAUNCHED * SCALE
    sheet.text(LEFT, 16, "the host, enlarged", "bold")
    sheet.rect(LEFT, 24, 330, 34, "hollow", rx=4)
    for x, words in ((LEFT + 4, "read clock"), (LEFT + 222, "read clock")):
        box(sheet, x, 27, 104, 28, words)
    box(sheet, LEFT + 110, 27, 108, 28, "launch: 5 us", kind="c")
    sheet.line(LEFT, 58, at, 96)
    sheet.line(LEFT + 330, 58, at + 2, 96)
    sheet.text(LEFT - 8, 117, "host", "end bold")
    sheet.rect(LEFT, 98, WIDTH - LEFT - 8, 30, "pale")
    sheet.rect(at, 98, 2, 30, "c")
    sheet.text(at + 12, 118, "goes on in your program", "soft")
    start, end = LEFT + STARTS * SCALE, LEFT + (STARTS + KERNEL) * SCALE
    sheet.text(LEFT - 8, 189, "device", "end bold")
    sheet.rect(LEFT, 170, WIDTH - LEFT - 8, 30, "pale")
    sheet.rect(LEFT, 170, STARTS * SCALE - 1, 30, "hollow")
    box(sheet, start, 170, end - start, 30, "the kernel: 2000 us", kind="a")
    arrow(sheet, at + 1, 130, start - 4, 167, "cs")
    sheet.text(start + 6, 152, "joins the stream, behind older work", "small")
    axis(sheet, LEFT, WIDTH - 8, 218, "time, to scale")
    for place, words, kind in ((start, "event: start", ""), (end, "event: end", "end")):
        sheet.line(place, 164, place, 240, "as", 2)
        sheet.text(place, 256, words, f"small bold {kind}".strip())
    sheet.text(4, 284, "The host's clock has seen 5 us, the two events 2000 us.", "bold")
    return sheet.svg()
