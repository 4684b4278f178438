"""Where a row of a matrix begins: its number times the length of a row, and no other number; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status
    from grader.feedback.explain.source_text import CppFunction

# ``x[row * rows + col]``, with a part of a name or a number for what a row's number is multiplied by.
IN_ROWS = re.compile(
    r"\b(?P<x>\w+)\s*\[\s*(?P<row>[A-Za-z_]\w*)\s*\*\s*(?P<m>\w+(?:\.[xyz])?)\s*\+\s*(?P<col>[A-Za-z_]\w*)\s*\]"
)
TURNED = re.compile(r"transpos|(?<![a-z])turn(?!s)", re.I)  # a kernel whose result has the rows as columns
MOST = 32  # accesses that are looked at
DIVIDED = re.compile(
    r"\b(?P<v>\w+)\s*=\s*(?P<e>[^;,={}/%]{1,40}?)\s*(?P<sign>[/%])\s*(?P<n>[A-Za-z_]\w*)\s*[;,]"
)
OF_A_BLOCK = re.compile(
    r"(?:blockDim|gridDim)\.[xyz]|(?:TILE|BLOCK|SIZE)\w*|(?:tile|block)_?(?:size|dim)?|\d+"
)


def _another_factor(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``x[row * rows + col]`` where the kernel itself says how many elements a row has."""
    for kernel in text.kernels:
        pointers = set(re.findall(r"\*\s*(?:__restrict__\s+|const\s+)*(\w+)", kernel.parameters))
        for one in islice(IN_ROWS.finditer(kernel.body), MOST):
            row, col, m = one["row"], one["col"], one["m"]
            told = _length(kernel, row, col)
            if one["x"] not in pointers or row == col or told is None or m in (told[0], row, col):
                continue
            length, why = told
            counts = bool(
                re.search(rf"(?<![\w.]){row}\s*(?:<|>=)\s*{re.escape(m)}\b(?!\s*[-+*/])", kernel.body)
            )
            if counts and TURNED.search(kernel.name) and _stored(kernel, one):
                cause = (
                    f"By {why}, {row} and {col} are a row and a column of what is read. The result has the two exchanged: each of "
                    f"its rows holds `{m}` elements, and `{one[0]}` still begins in row number {row}."
                )
                index = f"{col} * {m} + {row}"
                yield Fact(
                    "row-start", text.line(kernel.start + one.start()), cause, f"Write `{one['x']}[{index}]`."
                )
                return
            if counts:
                is_ = f"{m} is how many rows there are"
            elif OF_A_BLOCK.fullmatch(m):
                is_ = f"{m} is a size of blocks, not of x" if one["x"] == "x" else f"{m} is a size of blocks"
            else:
                continue
            x, index = one["x"], f"{row} * {length} + {col}"
            if _elsewhere(kernel, one, rf"{col}\s*\*\s*{re.escape(m)}\s*\+\s*{row}") and _stored(kernel, one):
                continue  # beside the other way round, the turned one may be meant here: others tell
            cause = (
                f"In `{one[0]}` row number {row} begins at `{row} * {m}`, and {is_}. By {why} a row has {length} elements, so "
                f"the rows in front of this one hold `{row} * {length}`."
            )
            yield Fact("row-start", text.line(kernel.start + one.start()), cause, f"Write `{x}[{index}]`.")
            return


def _length(kernel: CppFunction, row: str, col: str) -> tuple[str, str] | None:
    """The length of a row and what says so: ``row = i / n, col = i % n``, or the guard ``col < n``; None if nothing does."""
    made = {m["v"]: m for m in DIVIDED.finditer(kernel.body) if m["v"] in (row, col)}
    if (
        len(made) == 2
        and (made[row]["sign"], made[col]["sign"]) == ("/", "%")
        and made[row]["n"] == made[col]["n"]
    ):
        said = [f"`{' '.join(made[v][0].rstrip(';, ').split())}`" for v in (row, col)]
        return made[row]["n"], " and ".join(said)
    guards = set(re.findall(rf"(?<![\w.]){col}\s*(?:<|>=)\s*([A-Za-z_]\w*)\b(?!\s*[-+*/(.])", kernel.body))
    if made or len(guards) != 1:
        return None
    guard = re.search(rf"(?<![\w.]){col}\s*(?:<|>=)\s*\w+", kernel.body)
    return guards.pop(), f"`{' '.join(guard[0].split())}`" if guard else ""


def _stored(kernel: CppFunction, one: re.Match[str]) -> bool:
    return re.match(r"\s*[-+*/]?=(?!=)", kernel.body[one.end() :]) is not None


def _elsewhere(kernel: CppFunction, one: re.Match[str], index: str) -> bool:
    rest = kernel.body[: one.start()] + kernel.body[one.end() :]
    return re.search(rf"\[\s*{index}\s*\]", rest) is not None


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_another_factor, WRONG | OUTSIDE | TWICE),)
