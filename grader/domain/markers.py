"""Markers in a solution: what its starter leaves out, and what a page may show of it.

Markers are comments (``#`` or ``//``) on lines of their own, so a solution stays a valid program:

``# solution: begin`` .. ``# solution: end``  left out of the starter
``# starter: TEXT``                           becomes TEXT in the starter, with the marker's indentation
``# region: NAME`` .. ``# endregion``         what a page may show, by name
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SOLUTION = re.compile(r"\s*(?://|#) solution: (?P<edge>begin|end)\s*$")
STARTER = re.compile(r"(?P<indent>\s*)(?://|#) starter:(?: (?P<text>.*))?$")
REGION = re.compile(r"\s*(?P<comment>//|#) region: (?P<name>[\w-]+)\s*$")
ENDREGION = re.compile(r"\s*(?://|#) endregion\s*$")
MARKER = re.compile(r"\s*(?://|#) (?:solution|starter|region|endregion)\b")


class MarkerError(ValueError):
    """A marker that is misspelt, or that opens or closes nothing; the message begins with ``file:line``."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}")


def starter(path: Path) -> str:
    """The starter that the solution at ``path`` becomes."""
    out: list[str] = []
    opened = 0
    regions(path)  # a starter has none, but its source's must be in order
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if edge := SOLUTION.match(line):
            if (edge["edge"] == "begin") == bool(opened):
                raise MarkerError(path, number, _unbalanced(edge["edge"], opened))
            opened = number if edge["edge"] == "begin" else 0
        elif text := STARTER.match(line):
            if opened:
                raise MarkerError(path, number, f"a starter line inside the solution begun in line {opened}")
            out.append((text["indent"] + (text["text"] or "")).rstrip())
        elif REGION.match(line) or ENDREGION.match(line):
            continue
        elif MARKER.match(line):
            raise MarkerError(path, number, f"not a marker that I know: {line.strip()}")
        elif not opened:
            out.append(line)
    if opened:
        raise MarkerError(path, opened, "solution: begin without an end")
    return _tidy(out)


def regions(path: Path) -> dict[str, str]:
    """The named regions of the source at ``path`` as Markdown code blocks, without any markers."""
    found: dict[str, str] = {}
    name, language, begun = "", "", 0
    lines: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if match := REGION.match(line):
            if name:
                raise MarkerError(
                    path, number, f"region {match['name']} inside region {name} of line {begun}"
                )
            name, begun, lines = match["name"], number, []
            language = "cuda" if match["comment"] == "//" else "python"
            if name in found:
                raise MarkerError(path, number, f"a second region named {name}")
        elif ENDREGION.match(line):
            if not name:
                raise MarkerError(path, number, "endregion without a region")
            found[name] = block(lines, language)
            name = ""
        elif name and not MARKER.match(line):
            lines.append(line)
    if name:
        raise MarkerError(path, begun, f"region {name} without an endregion")
    return found


def block(lines: list[str], language: str) -> str:
    """The lines without the indentation that they share; a ``#pragma`` in the first column has none."""
    free = [k for k, line in enumerate(lines) if line.startswith("#pragma")]
    whole = textwrap.dedent("\n".join("" if k in free else line for k, line in enumerate(lines)))
    out = [lines[k] if k in free else line for k, line in enumerate(whole.split("\n"))]
    return f"```{language}\n{_tidy(out).strip()}\n```"


def _tidy(lines: list[str]) -> str:
    """One text; markers that went leave no more than two blank lines together, and none at the end."""
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n") + "\n"


def _unbalanced(edge: str, opened: int) -> str:
    return (
        f"solution: begin inside the one of line {opened}"
        if edge == "begin"
        else "solution: end without a begin"
    )
