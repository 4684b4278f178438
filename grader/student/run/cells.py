"""A notebook's code cells as files, so that every error has a cell and a line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = re.compile(r"(\s*)([%!].*|\w[\w.]*\?\??)")
OF_PYTHON = ("%%time", "%%timeit", "%%replay")  # below these a cell is Python, as without them
TIMED = re.compile(r"(\s*)%(?:time|timeit)\s+(?:-[nr]\s*\d+\s+|-[qop]\s+)*(\S.*)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among the code cells (from 1), and its source without IPython's commands."""

    number: int
    source: str

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"cell {self.number}"


def read(path: Path) -> list[Cell]:
    """The notebook's code cells in order; :class:`~grader.domain.errors.BadInputError` if it is no
    notebook."""
    try:
        data = json.loads(path.read_text("utf-8"))
        cells = [_source(c["source"]) for c in data["cells"] if c["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{path} is not a notebook that can be read ({type(error).__name__}).") from error
    return [Cell(i, plain(text)) for i, text in enumerate(cells, 1)]


def plain(source: str) -> str:
    """A cell as Python, line for line: commands for IPython (%matplotlib, !ls, x?) become comments.

    What ``%time`` and ``%timeit`` time is run, once and untimed.
    """
    if source.lstrip().startswith("%%"):
        first, newline, rest = source.lstrip().partition("\n")
        return f"# {first}{newline}{plain(rest) if first.split()[0] in OF_PYTHON else ''}"
    return "\n".join(map(_plain_line, source.split("\n")))


def _plain_line(line: str) -> str:
    if timed := TIMED.fullmatch(line):
        return timed[1] + timed[2]
    command = COMMAND.fullmatch(line)
    return f"{command[1]}pass  # {command[2]}" if command else line


def _source(text: object) -> str:
    return "".join(text) if isinstance(text, list) else str(text)
