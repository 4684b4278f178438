"""Bytes of the small operations after lesson 07's product: two kernels of the framework, and one fused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain.lessons import load_task
from grader.reports.svg import Sheet

if TYPE_CHECKING:
    from pathlib import Path

LEFT, WIDE = 14, 452


def picture(root: Path) -> str:
    """What each kernel reads and writes in device memory, to scale."""
    speed = load_task(root / "lessons" / "07_fused_bias_relu" / "task.py").speed
    assert speed is not None
    one = speed.fused_bytes / 2  # the matrix; the bias, a thousandth of it, is too small to be seen
    whole, fused = speed.eager_bytes / 1e6, speed.fused_bytes / 1e6
    sheet = Sheet(
        268,
        f"Bars of bytes moved. The framework's two kernels read and write a matrix each, {whole:.0f} MB in all. "
        f"The fused kernel reads and writes it once, {fused:.0f} MB.",
    )
    unit = WIDE / 4
    y = 20.0
    for title, total, kernels in (
        ("relu(x + bias), two kernels", whole, (("x", "x + bias"), ("x + bias", "result"))),
        ("the same, fused into one", fused, (("x", "result"),)),
    ):
        sheet.text(LEFT, y, title, "bold")
        sheet.text(LEFT + WIDE, y, f"{total:.0f} MB", "end bold")
        for number, (read, written) in enumerate(kernels):
            top = y + 12 + number * 42
            x = LEFT + number * 2 * unit
            _bar(sheet, x, top, unit, "c", f"read {read}")
            _bar(sheet, x + unit, top, unit, "b", f"write {written}")
        y += 34 + len(kernels) * 42
        if len(kernels) > 1:
            sheet.path(f"M{LEFT + 1.5 * unit} {y - 75} v 6 H {LEFT + 2.5 * unit} v 6", "ink", 1.5)
            y += 6
    sheet.text(LEFT, y + 8, f"{one / 1e6:.1f} MB for each bar. What lies between the two", "soft")
    sheet.text(LEFT, y + 27, "kernels is written only to be read again.", "soft")
    return sheet.svg()


def _bar(sheet: Sheet, x: float, y: float, w: float, kind: str, words: str) -> None:
    sheet.rect(x, y, w - 3, 8, kind)
    sheet.text(x, y + 24, words, "small")
