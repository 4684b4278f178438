"""What load_inline makes of a string and a list of names: lesson 01."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools.figures.strokes import arrow, box

if TYPE_CHECKING:
    from pathlib import Path

TITLE = (
    "Your string and your list of names become one file, main.cpp: your source, and below it a binding with one "
    "line a name. A compiler makes main.o of it, a linker lesson01_hello.so, and import makes a module of that."
)


def picture(_root: Path) -> str:
    """The file in the middle is half yours and half written for you."""
    sheet = Sheet(300, TITLE)
    box(sheet, 4, 30, 150, 50, "your string", "cpp_sources", "a")
    box(sheet, 4, 108, 150, 50, "your names", "functions", "a")
    sheet.text(200, 18, "main.cpp", "bold")
    sheet.rect(196, 26, WIDTH - 200, 140, "hollow", rx=6)
    box(sheet, 206, 36, WIDTH - 220, 38, "your source, as it is")
    sheet.rect(206, 82, WIDTH - 220, 76, "pale", rx=4)
    sheet.text(216, 102, "binding, written for you:", "bold")
    sheet.text(216, 124, 'm.def("hello_world", ...);', "code")
    sheet.text(216, 146, "one line for each name", "small soft")
    arrow(sheet, 158, 55, 202, 55)
    arrow(sheet, 158, 133, 202, 125)
    arrow(sheet, 338, 168, 338, 190)
    sheet.text(346, 184, "ninja runs c++", "small soft")
    box(sheet, 266, 194, 144, 30, "main.o")
    arrow(sheet, 338, 226, 338, 248)
    sheet.text(346, 242, "link", "small soft")
    box(sheet, 230, 252, 216, 34, "lesson01_hello.so")
    arrow(sheet, 226, 269, 172, 269)
    sheet.text(199, 260, "import", "mid small soft")
    box(sheet, 4, 246, 164, 46, "a Python module", "extension.hello_world()", "c")
    return sheet.svg()
