"""The map of the course: which lesson builds on which, drawn from what their tasks introduce and require."""

from __future__ import annotations

import textwrap
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from grader.domain.task import Task

HIGH, GAP, SIDE = 76, 34, 4
LINES = 4  # of a title

Edges = dict[str, set[str]]


def needs(tasks: dict[str, Task]) -> Edges:
    """For each lesson the lessons that introduce what it requires, without those that follow from others."""
    made = {word: name for name, task in tasks.items() for word in (*task.introduces, *task.terms)}
    direct = {name: {made[w] for w in task.requires if w in made} for name, task in tasks.items()}
    before: Edges = {}
    for name in tasks:  # in order, so what a lesson needs is known already
        before[name] = direct[name].union(*(before[d] for d in direct[name]))
    return {
        name: {d for d in found if not any(d in before[other] for other in found - {d})}
        for name, found in direct.items()
    }


def layers(edges: Edges) -> list[list[str]]:
    """Lessons in rows, each below all that it needs; ``>a>b`` holds a place where an arrow passes a row."""
    depth: dict[str, int] = {}
    for name, found in edges.items():
        depth[name] = 1 + max((depth[d] for d in found), default=-1)
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in edges:
        rows[depth[name]].append(name)
    for name, found in edges.items():
        for other in sorted(found):
            for level in range(depth[other] + 1, depth[name]):
                rows[level].append(f">{other}>{name}")
    for above, row in pairwise(rows):
        row.sort(key=lambda item: (_centre(item, above, edges), item))
    return rows


def _centre(item: str, above: list[str], edges: Edges) -> float:
    """Where the things that an item depends on are in the row above, on average."""
    hangs = [k for k, other in enumerate(above) if _joined(other, item, edges)]
    return sum(hangs) / len(hangs) if hangs else 0.0


def _joined(upper: str, lower: str, edges: Edges) -> bool:
    if lower.startswith(">"):
        return upper in (lower, lower.split(">")[1])
    if upper.startswith(">"):
        return upper.split(">")[2] == lower
    return upper in edges[lower]


def picture(tasks: dict[str, Task]) -> str:
    """The map as SVG with links, to be written into the page of all lessons."""
    edges = needs(tasks)
    rows = layers(edges)
    slots = max(len(row) for row in rows)
    slot = WIDTH / slots
    at = {
        item: ((k + (slots - len(row)) / 2) * slot + slot / 2, r * (HIGH + GAP) + 2)
        for r, row in enumerate(rows)
        for k, item in enumerate(row)
    }
    said = "; ".join(
        f"{n[:2]} after {', '.join(sorted(d[:2] for d in found))}" for n, found in edges.items() if found
    )
    sheet = Sheet(len(rows) * (HIGH + GAP) - GAP + 4, f"Map of the course. {said}.")
    for upper, lower in pairwise(rows):
        for a in upper:
            for b in lower:
                if _joined(a, b, edges):
                    _line(sheet, at[a], at[b])
    for item, (x, y) in at.items():
        if item.startswith(">"):
            sheet.line(x, y, x, y + HIGH, "rule", 1.5)
        else:
            _box(sheet, item, tasks[item].title, x, y, slot)
    return sheet.svg("group")


def _line(sheet: Sheet, a: tuple[float, float], b: tuple[float, float]) -> None:
    top, bottom = a[1] + HIGH, b[1]
    middle = (top + bottom) / 2
    sheet.path(
        f"M{a[0]:.1f} {top:.1f} C{a[0]:.1f} {middle:.1f} {b[0]:.1f} {middle:.1f} {b[0]:.1f} {bottom:.1f}",
        "rule",
        1.5,
    )


def _box(sheet: Sheet, name: str, title: str, x: float, y: float, slot: float) -> None:
    wide = min(slot - 2 * SIDE, 150)
    sheet.add(f'<a href="{name}/index.html" aria-label="Lesson {name[:2]}: {escape(title, quote=True)}">')
    sheet.rect(x - wide / 2, y, wide, HIGH, "pale", rx=5)
    sheet.text(x, y + 16, name[:2], "bold mid")
    lines = textwrap.wrap(title, max(10, int(wide / 7.2)), max_lines=LINES, placeholder="…")
    for k, line in enumerate(lines):
        sheet.text(x, y + 31 + 13 * k, line, "mid small")
    sheet.add("</a>")
