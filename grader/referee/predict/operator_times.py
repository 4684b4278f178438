"""Seconds of the framework's own operators: a large copy's and a large product's rate, and what others lack.

What was measured beside the cards' rates is in ``library.json``, which ``benchmarks/predict_fit.py library``
writes from the operators and products that ``predict.py measure`` timed on an H200 and an H100.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.referee.predict import model

if TYPE_CHECKING:
    from grader.domain.gpu_card import Card

FILE = Path(__file__).with_name("library.json")
FLOAT = 4


@dataclass(frozen=True, slots=True)
class Library:
    """``products``: pairs of the seconds that a product would take at the card's rate, and the share of that
    rate that it reached; rising. ``broadcast``: cycles of an SM for each element of an operator whose
    operands are not of one shape, which the framework reads one by one.
    """

    products: tuple[tuple[float, float], ...]
    broadcast: float


@functools.cache
def measured() -> Library:
    """What was measured."""
    data = json.loads(FILE.read_text("utf-8"))
    pairs = tuple((float(ideal), float(share)) for ideal, share in data["products"])
    return Library(pairs, float(data["broadcast"]["value"]))


def product(flops: float, card: Card, dtype: str = "float32") -> float:
    """Seconds of a matrix product by the library, without its launch: a small one does not fill the GPU."""
    if not flops:
        return 0.0
    ideal = flops / card.gemm_flops_per_second[dtype]
    return ideal / _share(ideal)


def _share(ideal: float) -> float:
    """Between two measured sizes on a straight line, both on a logarithmic scale; beyond them the nearest."""
    points = measured().products
    if ideal <= points[0][0]:
        return points[0][1] * ideal / points[0][0]  # as long as the smallest
    for (low, one), (high, other) in itertools.pairwise(points):
        if ideal <= high:
            along = math.log(ideal / low) / math.log(high / low)
            return float(one * (other / one) ** along)
    return points[-1][1]


def elementwise(nbytes: float, launches: int, card: Card, broadcast: float = 0.0) -> float:
    """Seconds of element-wise kernels that move ``nbytes`` in all; ``broadcast`` elements: see Library."""
    spread = 2 * FLOAT * broadcast
    found = (nbytes - spread) / card.copy_bytes_per_second
    if broadcast:
        cycles = broadcast * measured().broadcast / (card.sms * card.clock_hz)
        found += together(spread / card.copy_bytes_per_second, cycles)
    return found + launches * model.constants().launch


def together(*terms: float) -> float:
    """As the parts of a launch: they overlap, not perfectly."""
    norm = model.constants().norm
    return float(sum(t**norm for t in terms) ** (1 / norm))
