"""The roofline picture: what a card could do at best at each kernel's ratio of operations to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.domain import packages
from grader.profiling.profile.kernel_rows import Row, floor

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.gpu_card import Card

NOTHING = "No roofline picture: no kernel did any counted arithmetic, so memory alone is its roof."
MARKS, MOST = "osD^vP*X", 8


def available() -> bool:
    """Whether matplotlib is there."""
    return not packages.missing("matplotlib")


def unavailable() -> str:
    """Why there is no picture without it."""
    return f"No roofline picture: matplotlib is not installed. {packages.how('matplotlib')}"


def drawable(rows: list[Row]) -> list[Row]:
    """The kernels that have a place: those that move bytes and compute."""
    return [r for r in rows if r.moved and r.flops][:MOST]


def draw(rows: list[Row], card: Card, title: str, out: Path, how: str = "") -> None:
    """Write the picture, PNG or SVG: the card's roof, and below which point of it each kernel must stay.

    Rows with a time are drawn where they were instead. ``how`` the points came about, in words.
    """
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "roofline"  # the same numbers give the same file
    from matplotlib import pyplot

    memory, peak = card.dram_bytes_per_second, card.fp32_flops_per_second
    found = drawable(rows)
    ridge, ratios = peak / memory, [r.flops / r.moved for r in found]
    low, high = min(*ratios, ridge) / 8, max(*ratios, ridge) * 8
    figure, axes = pyplot.subplots(figsize=(8, 5))
    axes.loglog([low, ridge, high], [low * memory / 1e9, peak / 1e9, peak / 1e9], color="black")
    middle = (low * ridge) ** 0.5
    text = f"memory, {memory / 1e12:.3g} TB/s "
    axes.text(middle, middle * memory / 1e9 * 1.2, text, fontsize=9, ha="right")
    axes.text(high, peak / 1e9 * 1.15, f"fp32, {peak / 1e12:.3g} TFLOP/s", fontsize=9, ha="right")
    _dots(axes, found, card, low * memory / 2e9)
    axes.set_xlabel("floating-point operations for each byte that must cross device memory")
    axes.set_ylabel("GFLOP/s")
    axes.set_ylim(low * memory / 2e9, peak / 1e9 * 3)
    counted = "counted, not measured; a kernel can only be below"
    how = how or ("measured" if any(r.seconds for r in found) else counted)
    axes.set_title(f"{title}: the roof of an {card.name}\n{how}")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    undated = {"Date": None} if out.suffix == ".svg" else {}
    figure.savefig(out, dpi=130, bbox_inches="tight", metadata=undated)
    pyplot.close(figure)


def _dots(axes: Any, rows: list[Row], card: Card, bottom: float) -> None:
    """Each kernel where it was if a GPU ran it, else where it could be at best."""
    for row, mark in zip(rows, MARKS, strict=False):
        ratio, best = row.flops / row.moved, row.flops / floor(row.moved, row.flops, card) / 1e9
        where = f"at most {best:,.0f} GFLOP/s"
        if row.seconds:
            best = row.flops / row.seconds / 1e9
            where = f"{best:,.0f} GFLOP/s"
        label = f"{_short(row.kernel)}: {ratio:.3g} operations a byte, {where}"
        axes.plot([ratio, ratio], [bottom, best], ":", color="grey", linewidth=1)
        axes.plot([ratio], [best], mark, markersize=9, label=label)


def _short(kernel: str) -> str:
    return kernel if len(kernel) <= 40 else kernel[:37] + "..."
