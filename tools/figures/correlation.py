"""A launch and its kernel in a trace, joined by their correlation: lesson 05."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import axis

if TYPE_CHECKING:
    from pathlib import Path

LEFT, HIGH = 66, 26
HOST = (  # from, to, words: each lies within the one above
    (0, 340, "ProfilerStep#3", "pale"),
    (20, 320, "region: fused model", "pale"),
    (36, 224, "aten::linear", "pale"),
    (78, 214, "cudaLaunchKernel", "c"),
)
DEVICE = ((10, 112, "copy", "pale"), (172, 330, "matrix product", "a"), (334, 402, "bias_relu", "b"))
TITLE = (
    "A trace as lanes over time. On the host events lie within each other: a step holds a region, the region the operator "
    "aten::linear, the operator a call of cudaLaunchKernel. On the device follow a copy of the batch, a matrix product "
    "and bias_relu_kernel4. A line joins the launch with the product: both carry correlation 71."
)


def picture(_root: Path) -> str:
    """Nested events above, the device's below."""
    sheet = Sheet(268, TITLE)
    sheet.text(LEFT - 8, 60, "host", "end bold")
    for row, (start, end, words, kind) in enumerate(HOST):
        y = 8 + row * (HIGH + 4)
        sheet.rect(LEFT + start, y, end - start, HIGH, kind, rx=2)
        sheet.text(LEFT + start + 6, y + 18, words, "on small" if kind == "c" else "small")
    sheet.text(LEFT - 8, 205, "device", "end bold")
    sheet.rect(LEFT, 186, WIDTH - LEFT - 8, HIGH + 4, "hollow")
    for start, end, words, kind in DEVICE:
        sheet.rect(LEFT + start, 188, end - start, HIGH, kind, rx=2)
        sheet.text(LEFT + start + 6, 206, words, "small" if kind == "pale" else "on small")
    sheet.path(f"M{LEFT + 149} 126 V 156 H {LEFT + 251} V 184 m -4 -7 l 4 7 l 4 -7", "cs", 1.5)
    sheet.text(LEFT + 158, 149, "the same number: correlation 71", "small bold")
    axis(sheet, LEFT, WIDTH - 8, 232, "time")
    sheet.text(LEFT, 256, "Within: a part of it. Below: caused by it, and later.", "small soft")
    return sheet.svg()
