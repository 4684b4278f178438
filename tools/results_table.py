"""What a page of results is made of: tables and pictures."""

from __future__ import annotations

import csv as csv_module
import html
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = re.compile(r"-?\d[\d,.]*(?:e[-+]?\d+)?(?![\w-])")  # neither 03_square_kernel nor 2026-11-22


@dataclass(frozen=True, slots=True)
class Described:
    """Markdown of a result, and pictures by name, SVG each."""

    parts: list[str]
    pictures: dict[str, str] = field(default_factory=dict)


def table(columns: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A Markdown table; what looks like a number stands to the right."""
    heads = [c or ("name" if not k else "note") for k, c in enumerate(columns)]  # read aloud with each cell
    yield f"| {' | '.join(map(_cell, heads))} |"
    right = [
        all(not r[k] or NUMBER.match(r[k]) for r in rows) and any(r[k] for r in rows)
        for k in range(len(columns))
    ]
    yield "|" + "|".join("---:" if r else "---" for r in right) + "|"
    for row in rows:
        yield f"| {' | '.join(_cell(c) for c in row)} |"
    yield ""


def _cell(text: str) -> str:
    """A cell's text as it is, never as a tag or the end of the cell."""
    text = text.replace("|", "/").replace("\n", " ")
    return "`".join(p if k % 2 else p.replace("<", "&lt;") for k, p in enumerate(text.split("`")))


def _is_rule(line: str) -> bool:
    """Is this the line below a table's head?"""
    return line.startswith("|") and not line.strip("|-: ")


def one(parts: list[str]) -> tuple[list[str], list[str]]:
    """What answers the question, up to the end of the first table, with all pictures; and all the rest."""
    parts = [line for part in parts for line in part.split("\n")]  # a table may come as one text
    end = next((k for k, line in enumerate(parts) if line.startswith("|")), len(parts))
    while end < len(parts) and parts[end].startswith("|"):
        end += 1
    rest = parts[end:]
    pictures = [line for line in rest if line.startswith("![")]
    if not any(line.startswith("|") for line in rest):
        return parts, []
    above = [*parts[:end], ""]
    for picture in pictures:
        above += [picture, ""]
    return above, [line for line in rest if line not in pictures]


def fold(parts: list[str]) -> list[str]:
    """Parts that a reader opens."""
    tables = sum(map(_is_rule, parts))
    summary = f"<summary>{tables} more {'table' if tables == 1 else 'tables'}</summary>"
    return ["", '<details markdown="1">', summary, "", *parts, "", "</details>", ""]


def csv(parts: list[str]) -> str:
    """Tables as comma-separated values, one below the other with their titles."""
    out = io.StringIO()
    writer = csv_module.writer(out, lineterminator="\n")
    for line in parts:
        if _is_rule(line):
            continue
        if line.startswith("|"):
            writer.writerow([html.unescape(cell.strip()) for cell in line.strip("|").split("|")])
        else:
            writer.writerow([line.strip("*")] if line else [])
    return out.getvalue()


def shown(name: str, alt: str) -> list[str]:
    """The picture ``name`` on its page."""
    return ["", f"![{alt}]({name}.svg)", ""]
