"""PyTorch's dispatcher and the entries of an operator: lesson 10."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, box

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = (
    ("torch.autocast is on?", "autocast rule", "x becomes float32; ask again", "pale"),
    ("x.requires_grad?", "autograd", "keep x for later; ask again", "pale"),
    ("torch.compile, shapes only?", "fake function", "an empty tensor, no numbers", "c"),
    ("x is on a GPU?", "your kernel", "the numbers", "a"),
)
HIGH = 60
TITLE = (
    "A call of sigmoid_residual goes down a column of questions. Is autocast on? Then a rule makes x float32 and asks again. "
    "Does x require a gradient? Then autograd keeps x and asks again. Only shapes wanted? Then the fake function "
    "answers with an empty tensor. Is x on a GPU? Then your kernel runs."
)


def picture(_root: Path) -> str:
    """Questions on the left, what answers on the right."""
    sheet = Sheet(56 + len(ENTRIES) * HIGH, TITLE)
    box(sheet, 30, 6, 190, 30, "sigmoid_residual(x, 2.0)")
    for k, (question, entry, does, kind) in enumerate(ENTRIES):
        y = 58 + k * HIGH
        arrow(sheet, 125, y - 20 if k else 38, 125, y - 2)
        sheet.rect(18, y, 204, 36, "hollow", rx=4)
        sheet.text(120, y + 23, question, "mid")
        arrow(sheet, 222, y + 18, 262, y + 18, "as")
        sheet.text(242, y + 12, "yes", "mid small")
        box(sheet, 266, y - 6, WIDTH - 270, 48, entry, does, kind)
        if k < len(ENTRIES) - 1:
            sheet.text(132, y + 50, "no", "small soft")
    return sheet.svg()
