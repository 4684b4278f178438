"""A GPU from outside in: its multiprocessors, what is inside of one, and the memories that all share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from pathlib import Path

CARD = "h200"
MEMORY_GB = 141  # datasheet of the H200
REGISTERS_KB, SHARED_AND_L1_KB = 256, 256  # of an SM; CUDA C++ Programming Guide, compute capability 9.0
ACROSS, CELL = 11, 15
QUARTERS, LANES = 4, 32


def picture(root: Path) -> str:
    """SMs of one card on the left, one of them enlarged on the right, L2 and device memory below."""
    card = json.loads((root / "grader/domain/cards" / f"{CARD}.json").read_text("utf-8"))
    sms, l2 = card["sms"]["value"], card["l2_bytes"]["value"] / 2**20
    speed = card["dram_bytes_per_second"]["value"] / 1e12
    sheet = Sheet(
        352,
        f"{card['name']}: {sms} SMs. One of them, enlarged, has four quarters, each with a scheduler that picks a "
        f"warp in every cycle, {LANES} lanes and a quarter of the registers ({REGISTERS_KB} KB in all), and "
        f"{SHARED_AND_L1_KB} KB of shared memory and L1 cache. Below all SMs: {l2:.0f} MB of L2 cache, then "
        f"{MEMORY_GB} GB of device memory.",
    )
    sheet.text(4, 16, f"{sms} SMs", "bold")
    for k in range(sms):
        kind = "a" if k == ACROSS - 1 else "pale"
        sheet.rect(4 + k % ACROSS * CELL, 26 + k // ACROSS * CELL, CELL - 3, CELL - 3, kind, rx=2)
    right = 4 + ACROSS * CELL - 3
    sheet.line(right, 26, 190, 6, "as", 1.5)
    sheet.line(right, 38, 190, 246, "as", 1.5)
    _inside(sheet, 190)
    _shared(sheet, 262, "b", f"L2 cache, {l2:.0f} MB", "one for all SMs")
    _shared(sheet, 310, "c", f"device memory, {MEMORY_GB} GB", f"{speed:.1f} TB/s")
    sheet.path("M96 212 v 44 m -5 -8 l 5 8 l 5 -8 M96 298 v 8 m -5 -6 l 5 6 l 5 -6", "ink", 1.5)
    return sheet.svg()


def _inside(sheet: Sheet, left: float) -> None:
    wide = WIDTH - left - 4
    sheet.rect(left, 6, wide, 240, "hollow", rx=6)
    sheet.text(left + 10, 26, "one SM", "bold")
    each = (wide - 30) / 2
    for k in range(QUARTERS):
        x, y = left + 10 + k % 2 * (each + 10), 36 + k // 2 * 80
        sheet.rect(x, y, each, 72, "pale", rx=4)
        sheet.text(x + 8, y + 17, "picks one warp", "small")
        for lane in range(LANES):
            at = x + 8 + lane % 16 * (each - 16) / 16, y + 25 + lane // 16 * 10
            sheet.rect(*at, (each - 16) / 16 - 2, 8, "a", rx=1)
        sheet.text(x + 8, y + 62, f"registers, {REGISTERS_KB // QUARTERS} KB", "small")
    sheet.rect(left + 10, 198, wide - 20, 36, "pale", rx=4)
    sheet.text(left + wide / 2, 221, f"shared memory and L1 cache, {SHARED_AND_L1_KB} KB", "mid small")


def _shared(sheet: Sheet, y: float, kind: str, words: str, more: str) -> None:
    sheet.rect(4, y, WIDTH - 8, 34, "pale", rx=4)
    sheet.rect(4, y, 6, 34, kind, rx=2)
    sheet.text(20, y + 22, words, "bold")
    sheet.text(WIDTH - 14, y + 22, more, "end soft")
