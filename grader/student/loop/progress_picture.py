"""The calibration plot as a picture: what was predicted against what was found. Needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain import packages
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE

if TYPE_CHECKING:
    from pathlib import Path

    from grader.student.progress import Guess

FORMATS = (".png", ".svg", ".pdf")


def draw(guesses: list[Guess], out: Path) -> int:
    """Write the picture; how many predictions are in it. BadInputError says why it cannot be."""
    found = [(g, g.found) for g in guesses if g.found is not None and min(g.found, g.value) > 0]
    if out.suffix.lower() not in FORMATS:
        raise BadInputError(f"{out} is not the name of a picture; it must end in {', '.join(FORMATS)}.")
    if not found:
        raise BadInputError(
            f"No prediction has been compared yet: {COURSE} predict 03, then {COURSE} check 03."
        )
    packages.require("The picture", "matplotlib")
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    values = [v for g, right in found for v in (g.value, right)]
    ends = [min(values) / 2, max(values) * 2]
    figure, axes = pyplot.subplots(figsize=(6, 6))
    axes.fill_between(ends, [e / 2 for e in ends], [e * 2 for e in ends], alpha=0.12, label="within 2x")
    axes.loglog(ends, ends, color="black", linewidth=1)
    for guess, right in found:
        axes.plot([right], [guess.value], "o", color="tab:blue")
        label = f" {guess.lesson[:2]} {guess.what.removesuffix('_ratio')}"
        axes.annotate(label, (right, guess.value), fontsize=9)
    axes.set(xlim=ends, ylim=ends, xlabel="found", ylabel="predicted", aspect="equal")
    axes.set_title("Above the line: too high; below: too low")
    axes.legend(loc="upper left")
    try:
        figure.savefig(out, dpi=130, bbox_inches="tight")
    except OSError as error:
        raise BadInputError(f"{out} cannot be written: {error.strerror}.") from error
    finally:
        pyplot.close(figure)
    return len(found)
