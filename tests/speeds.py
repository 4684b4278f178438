"""Speeds of verdicts, of which a test says what matters to it."""

from __future__ import annotations

from typing import Any

from grader.domain import speed
from grader.domain.speed import Measured, NoSpeed, Predicted

TIMES = {"median": 1e-5, "p10": 9e-6, "p90": 1.1e-5, "n": 40}
COMPARISON = {"seconds": TIMES, "ratio": 1.1, "interval": [1.05, 1.15], "outcome": "faster"}
BLOCKS = {who: {"claims": [1e-5], "walls": [2e-4]} for who in ("submission", "reference")}
MEASURED: dict[str, Any] = {
    "kind": "measured", "device": "a GPU", "method": "by turns", "seconds": TIMES, "eager_seconds": TIMES,
    "whole_ratio": 1.1, "interval": [1.05, 1.15], "outcome": "faster", "rounds": 6, "processes": 2,
    "compared": 72, "clocks_apart": 0.0, "confirmed": 12, "blocks": {**BLOCKS, "rows": BLOCKS},
    "baselines": {"eager": COMPARISON}, "machine": {},
}  # fmt: skip
PREDICTED: dict[str, Any] = {
    "kind": "predicted", "device": "a card", "method": "from counts", "counted_bytes": 4096, "launches": 1,
    "kernel_seconds": 1e-5, "eager_kernel_seconds": 2e-5, "kernel_ratio": 2.0, "whole_ratio": 1.2,
    "limits": ["memory"],
}  # fmt: skip


def measured(**changes: Any) -> Measured:
    """A measured speed, in the terms of its JSON."""
    found = speed.from_json(MEASURED | changes)
    assert isinstance(found, Measured)
    return found


def predicted(**changes: Any) -> Predicted:
    """A predicted one."""
    found = speed.from_json(PREDICTED | changes)
    assert isinstance(found, Predicted)
    return found


def none(why: str = "x") -> NoSpeed:
    """No speed."""
    return NoSpeed(why)
