"""What a GPU could do at best: cards of GPUs, and times predicted from bytes moved. Never a measurement."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from grader.errors import BadInputError

CARDS = Path(__file__).parent / "cards"


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU's peak numbers, each with its source in the JSON. Bytes, seconds, floating-point operations."""

    name: str
    dram_bytes_per_second: float
    copy_bytes_per_second: float
    fp32_flops_per_second: float
    gemm_flops_per_second: float
    tensor_flops_per_second: float
    launch_seconds: float

    def memory_time(self, nbytes: float, launches: int = 1) -> float:
        """Seconds that ``launches`` kernels moving ``nbytes`` through device memory take at copy speed."""
        return nbytes / self.copy_bytes_per_second + launches * self.launch_seconds


def card(name: str = "h200") -> Card:
    """The card of that file name in ``grader/cards``."""
    path = CARDS / f"{name.lower()}.json"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in CARDS.glob("*.json")))
        raise BadInputError(f"There is no card for {name!r}; the cards are: {known}.")
    data = json.loads(path.read_text())
    numbers = {k: float(v["value"]) for k, v in data.items() if isinstance(v, dict)}
    return Card(data["name"], **numbers)


def of_device(name: str) -> Card | None:
    """The card of a device by the driver's name for it ("NVIDIA H200"), or None if there is none."""
    for path in sorted(CARDS.glob("*.json")):
        found = card(path.stem)
        if found.name.lower() in name.lower():
            return found
    return None
