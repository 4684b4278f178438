"""A roofline of memory: bytes against time, with the card's limits, as SVG. Needs matplotlib."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from grader.profile.kernels import Row
from grader.roofline import Card

MISSING = 'no roofline picture: matplotlib is not installed (python -m pip install "inline-to-fused[plots]")'


def available() -> bool:
    """Whether matplotlib is there."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(rows: list[Row], card: Card, scale: float, out: Path) -> None:
    """Each kernel at its full-size bytes and time; below the lines no kernel on this card can be."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    moved = [max(1.0, scale * (row.read_bytes + row.written_bytes)) for row in rows]
    low, high = min(moved) / 30, max(moved) * 30
    points = [low * (high / low) ** (i / 60) for i in range(61)]
    for name, rate in (("DRAM peak", card.dram_bytes_per_second), ("large copy", card.copy_bytes_per_second)):
        axes.plot(
            points, [1e6 * (b / rate + card.launch_seconds) for b in points], label=f"{name}, {card.name}"
        )
    for row, nbytes in zip(rows, moved, strict=True):
        axes.plot([nbytes], [row.seconds * 1e6], "o", label=row.kernel)
    axes.set(xscale="log", yscale="log", xlabel="bytes moved", ylabel="microseconds")
    axes.set_title("Predicted from counted bytes, not measured")
    axes.legend()
    figure.savefig(out, format="svg", bbox_inches="tight")
    pyplot.close(figure)
