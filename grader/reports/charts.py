"""Pictures for the class report as SVG: points, speeds with their intervals, checks that many miss."""

from __future__ import annotations

import functools
import html
import io
import re
from typing import Any

BLUE, RED, GREY = "#2f5d9b", "#a3261c", "#8a8a8a"
MOST_SPEEDS = 60


def points(values: list[int], most: int, label: str) -> str:
    """How many students have how many points."""
    figure, axes = _figure()
    counts = [values.count(k) for k in range(most + 1)] if len(values) < 2000 else _counted(values, most)
    axes.bar(range(most + 1), counts, color=BLUE, width=0.85)
    axes.set(xlabel="points", ylabel="students", xlim=(-0.7, most + 0.7))
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    return _labelled(_svg(figure), label)


def _counted(values: list[int], most: int) -> list[int]:
    counts = [0] * (most + 1)
    for value in values:
        counts[value] += 1
    return counts


def speeds(ratios: list[tuple[float, float, float]], label: str) -> str:
    """(ratio, low, high) each, fastest first; of many students evenly spread ones."""
    ordered = sorted(ratios, reverse=True)
    step = max(1, len(ordered) / MOST_SPEEDS)
    shown = [ordered[int(k * step)] for k in range(min(len(ordered), MOST_SPEEDS))]
    figure, axes = _figure()
    places = range(1, len(shown) + 1)
    middle = [r for r, _, _ in shown]
    bars = [[r - low for r, low, _ in shown], [high - r for r, _, high in shown]]
    axes.errorbar(places, middle, yerr=bars, fmt="o", color=BLUE, ecolor=GREY, markersize=4, capsize=2)
    axes.axhline(1.0, color=RED, linewidth=1, linestyle="--")
    axes.set(xlabel="students, fastest first", ylabel="times as fast as the framework")
    axes.set_xticks([])
    return _labelled(_svg(figure), label)


def missed(counts: list[tuple[str, int]], total: int, label: str) -> str:
    """Checks by how many students did not pass them."""
    return _labelled(_missed(tuple(counts), total), label)


@functools.lru_cache(32)  # two pages show it, each with words of its own
def _missed(counts: tuple[tuple[str, int], ...], total: int) -> str:
    figure, axes = _figure()
    names = [name if len(name) < 28 else name[:25] + "..." for name, _ in counts][::-1]
    axes.barh(range(len(names)), [n for _, n in counts][::-1], color=RED, height=0.7)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel=f"students of {total} who did not pass", xlim=(0, max(1, total)))
    return _svg(figure)


def term(lessons: list[tuple[str, float | None, float]], label: str) -> str:
    """(lesson, mean share of the points or None, share of the students graded) each, over the term."""
    figure, axes = _figure()
    names = [name for name, _, _ in lessons]
    axes.bar(
        names, [100 * graded for _, _, graded in lessons], color=GREY, alpha=0.35, label="students graded"
    )
    known = [(name, 100 * share) for name, share, _ in lessons if share is not None]
    axes.plot([n for n, _ in known], [s for _, s in known], "o-", color=BLUE, label="points of the graded")
    axes.set(xlabel="lesson", ylabel="per cent", ylim=(0, 105))
    axes.legend(loc="lower left", fontsize="small")
    return _labelled(_svg(figure), label)


def _figure() -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="both", alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _labelled(svg: str, label: str) -> str:
    """The picture with what it is for who cannot see it."""
    return svg.replace("<svg", f'<svg role="img" aria-label="{html.escape(label, quote=True)}"', 1)


def _svg(figure: Any) -> str:
    """The picture as an element for a page."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "course", "font.family": "sans-serif"}
    ):
        # What the layout needs is measured once here: a figure that has a layout draws everything twice.
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine("none")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    body = out.getvalue()[out.getvalue().index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
