"""What came of it: how many problems were judged rightly in all versions, how long it took, and the rest."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]


def rows(file: Path) -> list[Row]:
    """The results, a line each; of one graded twice the last. A line that was cut off is left out."""
    found: dict[tuple[str, str], Row] = {}
    for line in file.read_text().splitlines() if file.is_file() else ():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        found[row["problem"], row["version"]] = row
    return list(found.values())


def report(found: list[Row], problems: list[str]) -> str:
    """A table by level, then each problem that was not judged rightly, with what was said."""
    by_problem: dict[str, list[Row]] = {name: [] for name in problems}
    for row in found:
        by_problem.setdefault(row["problem"], []).append(row)
    whole = {name: found for name, found in by_problem.items() if len(found) == len(VERSIONS)}
    lines = [_line("", "problems", "graded", "right", "median s", "max s")]
    levels = sorted({name.split("/")[0] for name in by_problem})
    lines += [_level(level, level, by_problem, whole) for level in levels]
    lines += [_level("all", "", by_problem, whole), ""]
    kinds: dict[str, list[Row]] = {}
    for row in found:
        kinds.setdefault(row["kind"] or "left out", []).append(row)
    lines += [_kind(kind, some) for kind, some in sorted(kinds.items())]
    for name, some in by_problem.items():
        lines += [line for row in some if not row["right"] for line in _wrong(name, row)]
    return "\n".join(lines)


VERSIONS = ("same", "wrong", "low")


def _level(title: str, level: str, by_problem: dict[str, list[Row]], whole: dict[str, list[Row]]) -> str:
    def here(name: str) -> bool:
        return name.startswith(level)

    right = [name for name, some in whole.items() if here(name) and all(row["right"] for row in some)]
    seconds = [row["seconds"] for name in by_problem if here(name) for row in by_problem[name] if row["kind"]]
    middle = f"{statistics.median(seconds):.1f}" if seconds else "-"
    return _line(
        title, sum(map(here, by_problem)), sum(map(here, whole)), len(right), middle,
        f"{max(seconds):.1f}" if seconds else "-",
    )  # fmt: skip


def _line(*cells: object) -> str:
    return f"{cells[0]!s:10s}" + "".join(f"{cell!s:>10s}" for cell in cells[1:])


def _kind(kind: str, some: list[Row]) -> str:
    statuses: dict[str, int] = {}
    for row in some:
        statuses[row["status"]] = statuses.get(row["status"], 0) + 1
    return f"{kind:10s}" + ", ".join(
        f"{number} {status or row['why']}" for status, number in statuses.items()
    )


def _wrong(name: str, row: Row) -> list[str]:
    expected = " or ".join(row["expected"])
    lines = [
        "",
        f"{name}, {row['kind']}: {row['status']}, expected {expected} ({row['seconds']} s): {row['why']}",
    ]
    return lines + [f"    {said}" for said in [*row.get("said", []), *row.get("notes", [])]]
