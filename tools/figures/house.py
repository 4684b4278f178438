"""The house: its rooms from the contract that holds the walls, and what each says of itself."""

from __future__ import annotations

import ast
import textwrap
import tomllib
from pathlib import Path

from grader.reports.svg import Sheet

HERE = Path(__file__).resolve().parents[2]
LEFT, WIDE, GAP, LINE = 4, 472, 6, 15
LETTERS = 71  # of small text that fit into the whole width
# What a submission meets, in this order, and where: a step that two rooms share stands in both.
STEPS = {
    "feedback": "1 look",
    "referee": "2 build, 4 judge, 5 verdict",
    "player": "3 play",
    "reports": "6 report",
}


def layers() -> list[list[str]]:
    """The rooms from the top floor down, from the layers that import-linter checks."""
    contracts = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    floors = next(c["layers"] for c in contracts if c["type"] == "layers")
    return [[room.strip().removeprefix("grader.") for room in floor.split("|")] for floor in floors]


def sentence(room: str) -> str:
    """What a room's ``__init__`` says in its first line."""
    text = ast.get_docstring(ast.parse((HERE / "grader" / room / "__init__.py").read_text("utf-8")))
    assert text is not None
    return text.splitlines()[0]


def picture(_: Path) -> str:
    """A floor a row; imports go down only. The player is a process of its own, so it stands beside."""
    floors = layers()
    floors[next(n for n, floor in enumerate(floors) if "referee" in floor)].append("player")
    rows = [[(room, _wrapped(room, len(floor))) for room in floor] for floor in floors]
    heights = [LINE * (1.6 + max(len(lines) for _, lines in row)) for row in rows]
    words = "The rooms of the grader, floor by floor: " + "; ".join(", ".join(f) for f in floors)
    sheet = Sheet(sum(heights) + GAP * len(rows) + 4, f"{words}. A room imports only what is below it.")
    y = 2.0
    for row, height in zip(rows, heights, strict=True):
        width = (WIDE - GAP * (len(row) - 1)) / len(row)
        for number, (room, lines) in enumerate(row):
            _room(sheet, LEFT + number * (width + GAP), y, width, height, room, lines)
        y += height + GAP
    return sheet.svg()


def _wrapped(room: str, beside: int) -> list[str]:
    return textwrap.wrap(sentence(room), LETTERS // beside - beside + 1)


def _room(sheet: Sheet, x: float, y: float, width: float, height: float, room: str, lines: list[str]) -> None:
    sheet.rect(x, y, width, height, "pale", rx=4)
    sheet.text(x + 8, y + LINE + 2, room, "code bold")
    if step := STEPS.get(room):
        sheet.text(x + width - 8, y + LINE + 2, step, "small end c")
    for number, line in enumerate(lines, 2):
        sheet.text(x + 8, y + LINE * number + 3, line, "small soft")
