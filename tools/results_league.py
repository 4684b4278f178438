"""The league of judges: how its results are shown, here and on the page of the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.results_table import Described, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLUMNS = ["judge", "version", "settings", "cheats found", "honest files rejected", "seconds a file"]


def lines(data: dict[str, Any]) -> Iterator[list[str]]:
    """A row of the table for each judge."""
    for one in data["rows"]:
        none = f"; {one['no_answer']} without an answer" if one["no_answer"] else ""
        found, rejected = (f"{one[a]} of {one[b]}" for a, b in (("found", "cheats"), ("rejected", "honest")))
        yield [
            one["judge"], one["version"], one["settings"], found, rejected + none, f"{one['median_seconds']}",
        ]  # fmt: skip


def about(data: dict[str, Any]) -> str:
    """Which files were asked, and why not all."""
    left = "; ".join(f"{count} because {why}" for why, count in data["left_out"].items())
    return (
        f"{data['pairs']} of the corpus's {data['corpus']} files are made pairs in KernelBench's form; the "
        f"others are not: {left}. {data['sample']}"
    )


def described(_root: Path, data: dict[str, Any]) -> Described:
    """The table, then the cheats that each judge found by their class, and what it says of honest files."""
    parts = [*table(COLUMNS, list(lines(data))), about(data), ""]
    judges = [f"{one['judge']} ({one['settings']})" for one in data["rows"]]
    classes = sorted({kind for one in data["rows"] for kind in one["found_by_class"]})
    by_class = [
        [judge, *(one["found_by_class"].get(kind, "") for kind in classes)]
        for judge, one in zip(judges, data["rows"], strict=True)
    ]
    parts += ["### Cheats found, by class", "", *table(["judge", *classes], by_class)]
    rejected = [
        f"- {judge}, of `{name}`: {word}"
        for judge, one in zip(judges, data["rows"], strict=True)
        for name, word in one["rejected_files"].items()
    ]
    if rejected:
        parts += ["### What is said of honest files that are rejected", "", *rejected, ""]
    return Described(parts)
