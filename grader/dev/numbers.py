"""Measured numbers of the pages: written into them from ``benchmarks/results``, and no others let through.

``<!-- table: NAME -->`` .. ``<!-- /table -->`` holds a table of SOURCE, and
``<!-- = NAME -->`` .. ``<!-- /= -->`` a single value of it. A number with a unit that stands elsewhere in the
prose must come from a code block of the same page, or be declared as assumed or as known from a datasheet:
``<!-- given: 15 us, 5 us -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = "benchmarks/results/pages_h200.json"
TABLE = re.compile(r"(<!-- table: ([\w.-]+) -->\n).*?(<!-- /table -->)", re.S)
VALUE = re.compile(r"(<!-- = ([\w.-]+) -->)[^<]*(<!-- /= -->)")
GIVEN = re.compile(r"<!-- given: ([^>]*) -->")
FENCE = re.compile(r"^\s*```.*?^\s*```", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.,-])(\d[\d,]*(?:\.\d+)?) ?(us|ms|ns|%|GB/s|TB/s|TFLOP/s)(?!\w)")
SMALL = re.compile(r"\b\d\.\de-\d+\b")


class UnknownNumberError(KeyError):
    """A page asks for a table or value that the results do not have."""


def filled(page: str, root: Path) -> str:
    """``page`` with its tables and values as the results have them. Raises UnknownNumberError."""
    if not (TABLE.search(page) or VALUE.search(page)):
        return page
    data = json.loads((root / SOURCE).read_text("utf-8"))

    def value(match: re.Match[str]) -> str:
        return f"{match[1]}{_known(data['values'], match[2])}{match[3]}"

    def table(match: re.Match[str]) -> str:
        return f"{match[1]}{_table(_known(data['tables'], match[2]))}{match[3]}"

    return VALUE.sub(value, TABLE.sub(table, page))


def problems(page: str) -> Iterator[str]:
    """Numbers of the prose that come from nowhere, a sentence each."""
    shown = " ".join(FENCE.findall(page))
    given = " ".join(GIVEN.findall(page))
    prose = VALUE.sub("", TABLE.sub("", FENCE.sub("", page)))
    prose = re.sub(r"<!--.*?-->", "", prose, flags=re.S)
    declared = {m.groups() for m in NUMBER.finditer(given)} | {(s, "") for s in SMALL.findall(given)}
    printed = set(re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", shown + " " + _printed(page)))
    for match in NUMBER.finditer(prose):
        if match.groups() not in declared and match[1].replace(",", "") not in printed:
            yield f"the page says {match[0]!r}, which is neither computed there, measured, nor declared."
    for small in SMALL.findall(prose):
        if (small, "") not in declared and small not in shown:
            yield f"the page says {small}, which is neither computed there, measured, nor declared."


def _printed(page: str) -> str:
    return " ".join(re.findall(r"It prints `([^`]+)`", page))


def _known(found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise UnknownNumberError(f"{SOURCE} has no {name}")
    return found[name]


def _table(table: dict[str, Any]) -> str:
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
