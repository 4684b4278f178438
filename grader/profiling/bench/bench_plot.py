"""The bars of a bench: how many times as fast each solution is as each of its baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.profiling.bench.bench_rows import Bar, BenchRow, bars

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COLOURS = ("#2a7ab8", "#c8553d", "#5b8c5a", "#8a6fb0")


def drawn(rows: Sequence[BenchRow]) -> list[tuple[str, bool, Bar]]:
    """Lesson, whether it was measured, and bar."""
    return [(row["lesson"], row["kind"] == "measured", bar) for row in rows for bar in bars(row)]


def draw(rows: Sequence[BenchRow], title: str, out: Path) -> None:
    """Write the picture (SVG). Needs matplotlib. Intervals are drawn where there are any."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "bench"  # the same numbers give the same file
    from matplotlib import patches, pyplot

    found = drawn(rows)
    names = list(dict.fromkeys(bar.baseline for _, _, bar in found))
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.5 * len(found)))
    for place, (_, measured, bar) in enumerate(found):
        colour = COLOURS[names.index(bar.baseline) % len(COLOURS)]
        hatch, alpha = ("", 1.0) if measured else ("//", 0.5)
        axes.barh(place, bar.ratio - 1, left=1, color=colour, hatch=hatch, alpha=alpha)
        text = f" {bar.ratio:.3f}" + ("" if measured else " predicted")
        if measured:
            axes.plot([bar.low, bar.high], [place, place], color="black", linewidth=2)
            text = f" {bar.ratio:.4f} ({bar.low:.4f} to {bar.high:.4f})"
        axes.text(max(bar.ratio, bar.high, 1.0), place, text, va="center", fontsize=8)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(found)), [f"{lesson[:2]} against {bar.baseline}" for lesson, _, bar in found])
    axes.invert_yaxis()
    least = min(1.0, *(b.low or b.ratio for _, _, b in found))
    most = max(1.0, *(b.ratio for _, _, b in found))
    axes.set_xlim(least - 0.05 * most, 1.35 * most)  # a bar ends within the frame, to the left as well
    axes.set_xlabel("times as fast as the baseline, the whole call; thin line: 95 % interval")
    axes.set_title(title, fontsize=10)
    if len(names) > 1:
        told = [patches.Patch(color=COLOURS[k % len(COLOURS)], label=name) for k, name in enumerate(names)]
        axes.legend(handles=told, title="baseline", fontsize=8, title_fontsize=8)
    figure.savefig(out, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
