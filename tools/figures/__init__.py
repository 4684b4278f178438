"""Pictures of the pages, made by code: SVG for light and dark pages, one picture a module.

Each is written into ``docs/assets/figures`` by ``course dev generate``, so that a page shows the same picture
on GitHub and on the site, and a check fails when a picture no longer is what its code and data say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.figures import (
    attended,
    banks,
    barrier,
    bits,
    correlation,
    dispatch,
    extension,
    fused,
    gap,
    grid2d,
    halves,
    house,
    index_figure,
    intervals,
    joined,
    latency,
    launched,
    levels,
    machine,
    passes,
    reduction,
    rescaled,
    roofline_figure,
    rungs,
    sectors,
    tiles,
    timeline,
    waiting,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER = "docs/assets/figures"

FIGURES: dict[str, Callable[[Path], str]] = {
    "index": index_figure.picture,
    "sectors": sectors.picture,
    "banks": banks.picture,
    "fused": fused.picture,
    "timeline": timeline.picture,
    "roofline": roofline_figure.picture,
    "intervals": intervals.picture,
    "house": house.picture,
    "machine": machine.picture,
    "latency": latency.picture,
    "waiting": waiting.picture,
    "attended": attended.picture,
    "barrier": barrier.picture,
    "bits": bits.picture,
    "correlation": correlation.picture,
    "dispatch": dispatch.picture,
    "extension": extension.picture,
    "gap": gap.picture,
    "grid2d": grid2d.picture,
    "halves": halves.picture,
    "joined": joined.picture,
    "launched": launched.picture,
    "levels": levels.picture,
    "passes": passes.picture,
    "reduction": reduction.picture,
    "rescaled": rescaled.picture,
    "tiles": tiles.picture,
    **rungs.pictures(),
}


def files(root: Path) -> dict[Path, str]:
    """All pictures of the checkout ``root`` as they should be, by the file that holds them."""
    return {root / FOLDER / f"{name}.svg": draw(root) for name, draw in FIGURES.items()}
