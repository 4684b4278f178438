"""Measured numbers of the pages: written into them from ``benchmarks/results``, and no others let through.

``<!-- table: NAME -->`` .. ``<!-- /table -->`` holds a table of SOURCE, and
``<!-- = NAME -->`` .. ``<!-- /= -->`` a single value of it. A number with a unit that stands elsewhere in the
prose, or has a decimal point or a thousands separator, must come from a code block of the same page, or be
declared as assumed or as known from a datasheet: ``<!-- given: 15 us, 5 us, 65,535 -->``. Code on a page does
not repeat measured times, it asks :mod:`tools.measured`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tools import measured

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLE = re.compile(r"(<!-- table: ([\w.-]+) -->\n).*?(<!-- /table -->)", re.S)
VALUE = re.compile(r"(<!-- = ([\w.-]+) -->)[^<]*(<!-- /= -->)")
GIVEN = re.compile(r"<!-- given: ([^>]*) -->")
FENCE = re.compile(r"^\s*```.*?^\s*```", re.M | re.S)
UNITS = "us|ms|ns|s|seconds|%|KB|MB|GB|KiB|MiB|GB/s|TB/s|GFLOP|TFLOP/s|times"
NUMBER = re.compile(rf"(?<![\w.,-])(\d[\d,]*(?:\.\d+)?) ?({UNITS})(?!\w)")
EXACT = re.compile(r"(?<![\w.,/-])(?<!torch )(\d{1,3}(?:,\d{3})+|\d+\.\d+)(?![\w,]|\.\d)")
SMALL = re.compile(r"\b\d\.\de-\d+\b")


DIGITS = 3  # of a number that nobody would write for another reason


class UnknownNumberError(KeyError):
    """A page asks for a table or value that the results do not have."""


def filled(page: str, root: Path) -> str:
    """``page`` with its tables and values as the results have them. Raises UnknownNumberError."""
    if not (TABLE.search(page) or VALUE.search(page)):
        return page
    values, tables = measured.values(root), measured.tables(root)

    def value(match: re.Match[str]) -> str:
        return f"{match[1]}{_known(values, match[2])}{match[3]}"

    def table(match: re.Match[str]) -> str:
        return f"{match[1]}{as_table(_known(tables, match[2]))}{match[3]}"

    return VALUE.sub(value, TABLE.sub(table, page))


def unmarked(page: str) -> str:
    """``page`` without the marks of values: at the start of a line Markdown takes all of it for HTML."""
    return re.sub(r"<!-- (?:= [\w.-]+|/=) -->", "", page)


def problems(page: str) -> Iterator[str]:
    """Numbers of the prose that come from nowhere, a sentence each."""
    made = [m[0] for m in (*TABLE.finditer(page), *VALUE.finditer(page))]
    shown = " ".join(FENCE.findall(page) + made)
    given = " ".join(GIVEN.findall(page))
    prose = VALUE.sub("", TABLE.sub("", FENCE.sub("", page)))
    prose = re.sub(r"<!--.*?-->", "", prose, flags=re.S)
    declared = {m.groups() for m in NUMBER.finditer(given)} | {(s, "") for s in SMALL.findall(given)}
    told: set[str] = set()  # by a sentence of its own
    printed = set(re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", shown + " " + _printed(page)))
    for match in NUMBER.finditer(prose):
        told.add(match[1])
        if match.groups() not in declared and match[1].replace(",", "") not in printed:
            yield f"the page says {match[0]!r}, which is neither computed there, measured, nor declared."
    exact = EXACT.findall(re.sub(r"`[^`]*`|\]\([^)]*\)|\d\.\d+e-\d+", "", prose))
    for number in exact:
        known = number in told or number in given or {number, number.replace(",", "")} & printed
        if not known:
            yield f"the page says {number}, which is neither computed there, measured, nor declared."
    for small in SMALL.findall(prose):
        if (small, "") not in declared and small not in shown:
            yield f"the page says {small}, which is neither computed there, measured, nor declared."


def repeated(page: str, root: Path) -> Iterator[str]:
    """Measured times that the code of ``page`` repeats, a sentence each."""
    every = measured.tables(root).values()
    times = {str(row[1]) for table in every for row in table["rows"] if isinstance(row[1], int | float)}
    times = {t for t in times if len(t.replace(".", "")) >= DIGITS}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        for number in sorted(set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", block)) & times):
            yield f"a block of the page repeats the measured {number}; take it from tools.measured."


def _printed(page: str) -> str:
    return " ".join(re.findall(r"It prints `([^`]+)`", page))


def _known(found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise UnknownNumberError(f"{measured.RESULTS} has no {name}")
    return found[name]


def as_table(table: dict[str, Any]) -> str:
    """Rows of a label, microseconds (or their range), and more; a ratio to the first row is computed."""
    columns, decimals = table["columns"], table.get("ratio_decimals")
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    first = table["rows"][0][1]
    for label, time, *rest in table["rows"]:
        cells = [label, _time(time), *([] if decimals is None else [_ratio(first, time, decimals)]), *rest]
        lines.append(f"| {' | '.join(str(c) for c in cells)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def _time(time: Any) -> str:
    if isinstance(time, list):
        return f"{time[0]} to {time[1]} us"
    return "" if time is None else time if isinstance(time, str) else f"{time} us"


def _ratio(first: float, time: Any, decimals: int) -> str:
    if isinstance(time, list):
        return f"{first / time[1]:.{decimals}f} to {first / time[0]:.{decimals}f}"
    return f"{first / time:.{decimals}f}"
