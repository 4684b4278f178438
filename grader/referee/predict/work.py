"""What a launch has to move and to do, from simt's counts: plain numbers, whoever claimed them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

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


def work(launch: dict[str, object]) -> Work | None:
    """The work of a launch as a player's back end tells of it; None if it was not counted."""
    counts = _dict(launch.get("counts"))
    grid, block = _shape(launch.get("grid")), _shape(launch.get("block"))
    if not counts or not grid or not block:
        return None
    blocks, threads = math.prod(grid), math.prod(block)
    loads, stores = _dict(counts.get("global_load")), _dict(counts.get("global_store"))
    atomic = _dict(counts.get("global_atomic"))
    shared = [_dict(counts.get(f"shared_{kind}")) for kind in ("load", "store", "atomic")]
    ops = {str(k): _number(v) for k, v in _dict(counts.get("operations")).items()}
    warps = blocks * -(-threads // 32)
    load_sectors = _number(loads.get("sectors"))
    read = _number(counts.get("read_bytes"))
    block_sectors = _number(counts.get("block_read_bytes")) / SECTOR
    return Work(
        blocks=blocks,
        threads=threads,
        shared_bytes=int(_number(launch.get("shared_bytes")) + _number(launch.get("static_shared_bytes"))),
        fetched=max(read, _number(counts.get("fetched_bytes"))),
        written=_number(counts.get("written_bytes")),
        load_sectors=load_sectors,
        block_sectors=min(load_sectors, block_sectors) if block_sectors else load_sectors,
        store_sectors=_number(stores.get("sectors")),
        load_least=_number(loads.get("least")),
        store_least=_number(stores.get("least")),
        requests=sum(_number(x.get("requests")) for x in (loads, stores, atomic)),
        atomics=_number(atomic.get("sectors")),
        wavefronts=sum(_number(x.get("wavefronts")) for x in shared),
        shared_requests=sum(_number(x.get("requests")) for x in shared),
        barriers=_number(counts.get("barriers")) / blocks,
        rounds=_rounds(counts, "global_load", warps),
        shared_rounds=_rounds(counts, "shared_load", warps),
        operations=sum(
            n for kind, n in ops.items() if kind.endswith("_f32") and not kind.startswith(SPECIAL)
        ),
        wide_operations=sum(n for kind, n in ops.items() if kind.endswith("_f64")),
        special=sum(n for kind, n in ops.items() if kind.startswith(SPECIAL)),
        exact=bool(counts.get("exact", True)),
        pieces=min(32, threads) / min(32, block[0], threads),
    )


def _rounds(counts: dict[str, object], what: str, warps: int) -> float:
    lines = counts.get("lines")
    entries = [x for x in lines if isinstance(x, dict)] if isinstance(lines, list) else []
    return max((_number(x.get("requests")) for x in entries if x.get("what") == what), default=0.0) / warps


def _shape(claim: Any) -> tuple[int, ...]:
    if not isinstance(claim, (list, tuple)) or not 1 <= len(claim) <= 3:
        return ()
    numbers = tuple(int(_number(n)) for n in claim)
    return numbers if all(numbers) else ()


def _number(value: Any) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good and value >= 0 else 0.0


def _dict(value: Any) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
