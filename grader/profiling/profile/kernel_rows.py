"""The kernels of a call as rows: how often each was launched, what it moved and computed, how long."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from grader.profiling.by_line import Line, by_line
from grader.protocol.messages import Counts, Launch, Requests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.domain.gpu_card import Card

MOST_NAME = 300
NOTHING = Counts()


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


def rows(launches: Iterable[Launch], calls: int = 1) -> list[Row]:
    """Launches by kernel, grid and block, in the order of their first launch.

    ``calls``: how often the same call was made; launches and seconds are those of one, the median's.
    """
    groups: dict[tuple[str, str, str], list[Launch]] = {}
    for x in launches:
        groups.setdefault(key(x), []).append(x)
    return [_row(own, group, calls) for own, group in groups.items()]


def _row(own: tuple[str, str, str], group: list[Launch], calls: int) -> Row:
    each, counts = max(1, round(len(group) / calls)), [counted(x) for x in group]
    return Row(
        *own, each,
        sum(c.read_bytes for c in counts) // calls, sum(c.written_bytes for c in counts) // calls,
        sum(c.flops for c in counts) // calls,
        _ratio([c.global_load for c in counts]), _ratio([c.global_store for c in counts]),
        median(x.seconds for x in group) * each,
    )  # fmt: skip


def _ratio(traffic: list[Requests]) -> float | None:
    requests = sum(x.requests for x in traffic)
    return sum(x.sectors for x in traffic) / requests if requests else None


def key(launch: Launch) -> tuple[str, str, str]:
    """What the launches of one row have in common: kernel, grid and block."""
    return kernel(launch), shape(launch.grid), shape(launch.block)


def kernel(launch: Launch) -> str:
    """A kernel's name, not too long for a page."""
    return launch.kernel[:MOST_NAME] or "(unnamed)"


def counted(launch: Launch) -> Counts:
    """A launch's counts, all 0 where nothing was counted."""
    return launch.counts or NOTHING


def shape(numbers: tuple[int, ...]) -> str:
    """A grid or block as 4x2, without its trailing ones."""
    kept = list(numbers) or [0]
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


def floor(moved: float, flops: float, card: Card) -> float:
    """Seconds below which the card cannot be: its memory's peak, or its fp32 units' peak, is used up.

    For data in device memory. A bound, not a prediction: it knows no launch, no latency and no cache.
    """
    return max(moved / card.dram_bytes_per_second, flops / card.fp32_flops_per_second)


def lines(launches: Iterable[Launch]) -> list[Line]:
    """Source lines that touch memory, all launches added up; the most wasteful first."""
    return by_line(entry for x in launches for entry in counted(x).lines if entry.line)


def as_json(row: Row, card: Card) -> dict[str, object]:
    """For other programs; times in seconds, and only the ones that there are."""
    data: dict[str, object] = {
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
