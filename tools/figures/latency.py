"""How a multiprocessor hides the time that a load takes: one warp, and eight, on the same axis of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from pathlib import Path

WAIT, WORK = 480, 20  # cycles: a load from device memory, as published for an H100; and some arithmetic
CYCLES, LEFT, HIGH = 1000, 60, 12
MANY = 8


def loads(warps: int) -> int:
    """How many loads were begun in ``CYCLES`` if each warp loads, waits, works, and loads again."""
    return sum(len(starts(k)) for k in range(warps))


def starts(warp: int) -> list[int]:
    """The cycles in which a warp's loads begin; warps begin one after another."""
    return list(range(warp * WORK, CYCLES, WAIT + WORK))


def picture(_root: Path) -> str:
    """Bars of waiting and working, a row each warp."""
    one, many = loads(1), loads(MANY)
    sheet = Sheet(
        224,
        f"One warp begins {one} loads in {CYCLES} cycles and waits for nearly all of that time. {MANY} warps begin "
        f"{many} in the same time: while one waits, the others work.",
    )
    sheet.text(LEFT, 16, f"one warp: {one} loads in {CYCLES:,} cycles", "bold")
    _warp(sheet, 0, 26)
    sheet.text(LEFT, 66, f"{MANY} warps: {many} loads in {CYCLES:,} cycles", "bold")
    for k in range(MANY):
        _warp(sheet, k, 76 + k * (HIGH + 3))
    bottom = 76 + MANY * (HIGH + 3) + 18
    sheet.rect(LEFT, bottom - 9, 10, 10, "pale")
    sheet.text(LEFT + 16, bottom, "waits for memory", "small soft")
    sheet.rect(LEFT + 140, bottom - 9, 10, 10, "a")
    sheet.text(LEFT + 156, bottom, "works and asks again", "small soft")
    return sheet.svg()


def _warp(sheet: Sheet, warp: int, y: float) -> None:
    sheet.text(LEFT - 8, y + 10, f"warp {warp}", "end small soft")
    for begin in starts(warp):
        end = min(begin + WAIT, CYCLES)
        sheet.rect(_x(begin), y, _x(end) - _x(begin), HIGH, "pale")
        if end < CYCLES:
            sheet.rect(_x(end), y, max(3.0, _x(min(end + WORK, CYCLES)) - _x(end)), HIGH, "a")


def _x(cycle: float) -> float:
    return LEFT + cycle / CYCLES * (WIDTH - LEFT - 6)
