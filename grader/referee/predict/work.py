"""What a launch has to move and to do, from simt's counts: plain numbers, whoever claimed them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.protocol.messages import Counts, Launch

SECTOR = 32
SPECIAL = ("div", "sqrt")  # several instructions each


@dataclass(frozen=True, slots=True)
class Work:
    """One launch. Sectors have 32 bytes; ``fetched`` and ``written`` are bytes of device memory.

    ``block_sectors``: sectors read, each once for every block that reads it: what an L1 cache cannot save.
    ``load_least``, ``store_least``: the sectors that the same bytes would take side by side.
    ``rounds``: how often a warp waits for device memory, if what stands in one round waits together: the
    executions of its most executed load; ``shared_rounds`` the same in shared memory. ``barriers`` of a
    block. ``pieces``: rows of the block that a warp spans, each taken to lie in lines of its own. ``exact``:
    all blocks were counted, or those that were stand for the others.
    """

    blocks: int
    threads: int
    shared_bytes: int
    fetched: float
    written: float
    load_sectors: float
    block_sectors: float
    store_sectors: float
    load_least: float
    store_least: float
    requests: float
    atomics: float
    wavefronts: float
    shared_requests: float
    barriers: float
    rounds: float
    shared_rounds: float
    operations: float
    wide_operations: float
    special: float
    exact: bool
    pieces: float = 1.0

    @property
    def warps(self) -> int:
        """Of a block."""
        return -(-self.threads // 32)


def work(launch: Launch) -> Work | None:
    """The work of a launch as a player's back end tells of it; None if it was not counted."""
    c = launch.counts
    blocks, threads = math.prod(launch.grid), math.prod(launch.block)
    if c is None or not launch.grid or not launch.block or not blocks or not threads:
        return None
    loads, stores, atomic = c.global_load, c.global_store, c.global_atomic
    shared = (c.shared_load, c.shared_store, c.shared_atomic)
    warps = blocks * -(-threads // 32)
    block_sectors = c.block_read_bytes / SECTOR
    return Work(
        blocks=blocks,
        threads=threads,
        shared_bytes=launch.shared_bytes + launch.static_shared_bytes,
        fetched=max(c.read_bytes, c.fetched_bytes),
        written=c.written_bytes,
        load_sectors=loads.sectors,
        block_sectors=min(loads.sectors, block_sectors) if block_sectors else loads.sectors,
        store_sectors=stores.sectors,
        load_least=loads.least,
        store_least=stores.least,
        requests=loads.requests + stores.requests + atomic.requests,
        atomics=atomic.sectors,
        wavefronts=sum(x.wavefronts for x in shared),
        shared_requests=sum(x.requests for x in shared),
        barriers=c.barriers / blocks,
        rounds=_rounds(c, "global_load", warps),
        shared_rounds=_rounds(c, "shared_load", warps),
        operations=sum(
            n for kind, n in c.operations.items() if kind.endswith("_f32") and not kind.startswith(SPECIAL)
        ),
        wide_operations=sum(n for kind, n in c.operations.items() if kind.endswith("_f64")),
        special=sum(n for kind, n in c.operations.items() if kind.startswith(SPECIAL)),
        exact=c.exact,
        pieces=min(32, threads) / min(32, launch.block[0], threads),
    )


def _rounds(counts: Counts, what: str, warps: int) -> float:
    return max((x.requests for x in counts.lines if x.what == what), default=0.0) / warps
