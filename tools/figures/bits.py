"""The 24 bits of pi as a float32, and which of them its two halves hold: lesson 13."""

from __future__ import annotations

import struct
from math import pi
from typing import TYPE_CHECKING

from grader.reports.svg import Sheet

if TYPE_CHECKING:
    from pathlib import Path

TITLE = (
    "Pi in three rows of bits below each other. The first row has the 24 bits that a float32 holds. High holds the first "
    "11 of them. The next bit is 0, so low begins behind it and holds 11 more; the last bit is lost, low is rounded."
)
CELL, HIGH, LEFT = 18.4, 24, 4
FLOAT, HALF = 24, 11  # bits that each holds
SCALE = 2048


def halves(value: float) -> tuple[float, float]:
    """The half nearest to a number, and the half nearest to 2048 times what is left."""
    high = struct.unpack("<e", struct.pack("<e", value))[0]
    low = struct.unpack("<e", struct.pack("<e", (value - high) * SCALE))[0]
    return high, low


def bits(value: float, many: int) -> str:
    """The bits of a number from its first 1 on; of one between 2**k and 2**(k+1), k is where they begin."""
    whole, _ = value.hex().removeprefix("0x1.").split("p")
    return f"1{int(whole, 16):0{4 * len(whole)}b}"[:many].ljust(many, "0")


def picture(_root: Path) -> str:
    """Three rows of cells."""
    value = struct.unpack("<f", struct.pack("<f", pi))[0]
    high, low = halves(value)
    sheet = Sheet(190, TITLE)
    zeros = bits(value, FLOAT)[HALF:].index("1")
    rows = [
        ("pi, float32: 24 bits", bits(value, FLOAT), 0, "pale"),
        ("high: the first 11", bits(high, HALF), 0, "a"),
        ("low: 11 more, from the next 1 on, rounded", bits(low, HALF), HALF + zeros, "c"),
    ]
    for number, (words, row, start, kind) in enumerate(rows):
        y = 16 + 60 * number
        sheet.text(LEFT, y, words, "bold")
        for place, bit in enumerate(row, start):
            x = LEFT + place * CELL
            sheet.rect(x, y + 8, CELL - 2, HIGH, kind, rx=2)
            sheet.text(x + CELL / 2 - 1, y + 25, bit, "mid small on" if kind != "pale" else "mid small")
    lost = FLOAT - HALF - zeros - HALF
    sheet.text(LEFT + (FLOAT - lost) * CELL + 6, 161, "lost", "small soft")
    return sheet.svg()
