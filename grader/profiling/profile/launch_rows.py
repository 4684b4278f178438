"""A launch as a player claims it was, in a form that can be relied on: plain numbers, none negative."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

MOST_LINES, MOST_NAME = 500, 300
WHAT = tuple(f"{a}_{b}" for a in ("global", "shared") for b in ("load", "store", "atomic"))


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch. Bytes are distinct bytes that it must move; ``seconds`` only where a GPU ran it.

    ``load`` and ``store``: (requests of warps, sectors of 32 bytes that they touched) in device memory.
    ``lines``: entries of :func:`grader.profiling.by_line.by_line`. ``exact``: no block was left out.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    counted: bool = False
    read: int = 0
    written: int = 0
    flops: int = 0
    load: tuple[int, int] = (0, 0)
    store: tuple[int, int] = (0, 0)
    lines: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    began: float = 0.0


def parse(claim: Any) -> Launch:
    """The launch in ``claim``; what is missing or malformed counts as nothing."""
    said = _dict(claim)
    counts = _dict(said.get("counts"))
    kernel = said.get("kernel")
    return Launch(
        kernel=kernel[:MOST_NAME] if isinstance(kernel, str) and kernel else "(unnamed)",
        grid=_shape(said.get("grid")),
        block=_shape(said.get("block")),
        counted=bool(counts),
        read=_whole(counts.get("read_bytes")),
        written=_whole(counts.get("written_bytes")),
        flops=_whole(_dict(counts.get("operations")).get("flops")),
        load=_traffic(counts.get("global_load")),
        store=_traffic(counts.get("global_store")),
        lines=[line for line in map(_line, _list(counts.get("lines"))[:MOST_LINES]) if line],
        seconds=_seconds(said.get("seconds")),
        began=_seconds(said.get("began")),
    )


def _line(claim: Any) -> dict[str, Any]:
    said = _dict(claim)
    file, what = said.get("file"), said.get("what")
    if not isinstance(file, str) or what not in WHAT or not _whole(said.get("line")):
        return {}
    numbers = ("line", "requests", "sectors", "wavefronts", "least", "lanes")
    return {"file": file, "what": what} | {key: _whole(said.get(key)) for key in numbers}


def _traffic(claim: Any) -> tuple[int, int]:
    said = _dict(claim)
    return _whole(said.get("requests")), _whole(said.get("sectors"))


def _shape(claim: Any) -> tuple[int, ...]:
    """A grid or block without its trailing ones."""
    numbers = [_whole(n) for n in _list(claim)[:3]]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return tuple(numbers) or (0,)


def _whole(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 62 else 0


def _seconds(value: Any) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if good and math.isfinite(value) and 0 <= value < 1e6 else 0.0


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
