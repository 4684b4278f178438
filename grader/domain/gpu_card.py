"""What a GPU could do at best: cards of GPUs, each number with its source. Never a measurement."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from grader.domain.errors import BadInputError

CARDS = Path(__file__).parent / "cards"
DEFAULT = "h200"


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU's peak numbers, each with its source in the JSON. Bytes, seconds, floating-point operations.

    ``drivers``: the names that NVIDIA's driver has for it. ``gemm_flops_per_second``: what the library's
    matrix products reach, by dtype ("float32", "tf32", "float16", "bfloat16"). ``l2_bytes``: 0 if not known.
    """

    name: str
    drivers: tuple[str, ...]
    compute_capability: str
    sms: float
    clock_hz: float
    threads_per_sm: float
    blocks_per_sm: float
    shared_bytes_per_sm: float
    dram_bytes_per_second: float
    copy_bytes_per_second: float
    fp32_flops_per_second: float
    tensor_flops_per_second: float
    launch_seconds: float
    gemm_flops_per_second: dict[str, float]
    l2_bytes: float = 0.0


def names() -> list[str]:
    """The cards there are, as ``--card`` takes them."""
    return sorted(p.stem for p in CARDS.glob("*.json"))


@functools.cache
def card(name: str = DEFAULT) -> Card:
    """The card of that file name in ``grader/domain/cards``; BadInputError names the ones that there are."""
    if name.lower() not in names():
        raise BadInputError(f"There is no card for {name!r}; the cards are: {', '.join(names())}.")
    data = json.loads((CARDS / f"{name.lower()}.json").read_text("utf-8"))
    gemm = {dtype: float(number["value"]) for dtype, number in data.pop("gemm_flops_per_second").items()}
    numbers = {k: float(v["value"]) for k, v in data.items() if isinstance(v, dict)}
    return Card(
        name=data["name"], drivers=tuple(data["drivers"]), compute_capability=data["compute_capability"],
        gemm_flops_per_second=gemm, **numbers,
    )  # fmt: skip


def of_device(name: str) -> Card | None:
    """The card of a device by the driver's name for it ("NVIDIA H100 80GB HBM3"), or None if there is none.

    The whole name counts: an RTX 3060 Ti or an A100 with less memory is another card.
    """
    return next((c for c in map(card, names()) if name.lower() in map(str.lower, c.drivers)), None)
