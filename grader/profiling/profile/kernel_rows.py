"""The kernels of a call as rows: how often each was launched, what it moved and computed, how long."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from grader.domain.gpu_card import Card
from grader.profiling.by_line import Line, by_line
from grader.profiling.profile.launch_rows import Launch


@dataclass(frozen=True, slots=True)
class Row:
    """All launches of one kernel with one grid and block. ``seconds``: of all of them; 0 if not timed.

    ``load`` and ``store``: sectors of 32 bytes for each request of a warp; None if there was no request.
    """

    kernel: str
    grid: str
    block: str
    launches: int
    read: int
    written: int
    flops: int
    load: float | None
    store: float | None
    seconds: float

    @property
    def moved(self) -> int:
        """Bytes that have to cross device memory, in both directions."""
        return self.read + self.written


def rows(launches: list[Launch], calls: int = 1) -> list[Row]:
    """Launches by kernel, grid and block, in the order of their first launch.

    ``calls``: how often the same call was made; launches and seconds are those of one, the median's.
    """
    groups: dict[tuple[str, tuple[int, ...], tuple[int, ...]], list[Launch]] = {}
    for x in launches:
        groups.setdefault((x.kernel, x.grid, x.block), []).append(x)
    return [_row(group, calls) for group in groups.values()]


def _row(group: list[Launch], calls: int) -> Row:
    first, each = group[0], max(1, round(len(group) / calls))
    return Row(
        first.kernel, shape(first.grid), shape(first.block), each,
        sum(x.read for x in group) // calls, sum(x.written for x in group) // calls,
        sum(x.flops for x in group) // calls,
        _ratio([x.load for x in group]), _ratio([x.store for x in group]),
        median(x.seconds for x in group) * each,
    )  # fmt: skip


def _ratio(traffic: list[tuple[int, int]]) -> float | None:
    requests, sectors = (sum(part) for part in zip(*traffic, strict=True))
    return sectors / requests if requests else None


def shape(numbers: tuple[int, ...]) -> str:
    """A grid or block as 4x2."""
    return "x".join(map(str, numbers))


def floor(moved: float, flops: float, card: Card) -> float:
    """Seconds below which the card cannot be: its memory's peak, or its fp32 units' peak, is used up.

    For data in device memory. A bound, not a prediction: it knows no launch, no latency and no cache.
    """
    return max(moved / card.dram_bytes_per_second, flops / card.fp32_flops_per_second)


def lines(launches: list[Launch]) -> list[Line]:
    """Source lines that touch memory, all launches added up; the most wasteful first."""
    return by_line({"lines": [entry for x in launches for entry in x.lines]})


def as_json(row: Row, card: Card) -> dict[str, Any]:
    """For other programs; times in seconds, and only the ones that there are."""
    data: dict[str, Any] = {
        "kernel": row.kernel, "grid": row.grid, "block": row.block, "launches": row.launches,
    }  # fmt: skip
    if row.seconds:
        return data | {"seconds": row.seconds}
    return data | {
        "read_bytes": row.read,
        "written_bytes": row.written,
        "flops": row.flops,
        "sectors_per_load_request": row.load,
        "sectors_per_store_request": row.store,
        "floor_seconds": floor(row.moved, row.flops, card),
    }
