"""A notebook's code cells as files, so that every error has a cell and a line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import BadInputError

MAGIC = re.compile(r"^(\s*)([%!].*|.*\?)$", re.M)


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
    """The notebook's code cells in order; :class:`~grader.errors.BadInputError` if it is no notebook."""
    try:
        data = json.loads(path.read_text("utf-8"))
        cells = [_source(c) for c in data["cells"] if c["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{path} is not a notebook that can be read ({type(error).__name__}).") from error
    return [Cell(i, plain(text)) for i, text in enumerate(cells, 1)]


def plain(source: str) -> str:
    """Commands for IPython (%time, !ls, x?) as comments, so that the rest is Python and keeps its lines."""
    if source.lstrip().startswith("%%"):
        first, newline, rest = source.lstrip().partition("\n")
        return f"# {first}{newline}{plain(rest) if first.split()[0] in ('%%time', '%%timeit') else ''}"
    return "\n".join(
        f"{m[1]}pass  # {m[2]}" if (m := re.fullmatch(r"(\s*)([%!].*|\w[\w.]*\?\??)", line)) else line
        for line in source.split("\n")
    )


def _source(cell: dict[str, Any]) -> str:
    text = cell["source"]
    return "".join(text) if isinstance(text, list) else str(text)
