"""Seconds of one launch on a card: what each part of the GPU needs for the work, put together.

Each term is the time that one part alone would take; a launch takes a little longer than its longest term,
since the parts overlap but not perfectly: the terms' p-norm. Few constants are not on the card. They are
physical (latencies, shares of a peak) and were fitted to measured launches: ``constants.json``, written by
benchmarks/predict_fit.py.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.referee.predict.work import SECTOR, Work

if TYPE_CHECKING:
    from grader.domain.gpu_card import Card

FILE = Path(__file__).with_name("constants.json")
LANES, RESERVED = 128, 1024


@dataclass(frozen=True, slots=True)
class Constants:
    """What the fit has found. Cycles are of the SM's clock.

    ``l2``: bytes a cycle and SM; ``scattered``: a sector read far from
    its neighbours, and ``partial``: a sector written in part, in whole sectors' work for the L2 cache;
    ``missed``: share of the sectors read again by a block that the L1 cache has lost; ``request``,
    ``wavefront``: cycles of an SM for a warp's access to global and to shared memory, ``piece``: for each
    further row of the block that the warp's access spans; ``far``, ``near``,
    ``inner``: seconds until device memory, L2 and L1 answer; ``shared``: until shared memory does; ``begin``:
    seconds of a block besides, ``warp``: and for each of its warps; ``barrier``: seconds; ``dispatch``:
    seconds between two blocks of the whole GPU; ``launch``: those of an empty launch; ``norm``: the p.
    """

    l2: float
    scattered: float
    partial: float
    missed: float
    request: float
    piece: float
    wavefront: float
    far: float
    near: float
    inner: float
    shared: float
    begin: float
    warp: float
    barrier: float
    dispatch: float
    launch: float
    norm: float


@functools.cache
def constants() -> Constants:
    """Those that were fitted."""
    return Constants(**{k: v["value"] for k, v in json.loads(FILE.read_text("utf-8"))["constants"].items()})


def resident(work: Work, card: Card) -> int:
    """Blocks that an SM holds at once; registers are not known here."""
    shared = card.shared_bytes_per_sm // (work.shared_bytes + RESERVED)
    return int(max(1, min(card.blocks_per_sm, card.threads_per_sm // (32 * work.warps), shared)))


def terms(work: Work, card: Card, c: Constants) -> dict[str, float]:
    """Seconds that each part of the GPU would need alone."""
    busy = min(card.sms, work.blocks)
    waves = work.blocks / (card.sms * resident(work, card))
    # Blocks are whole: with few of them some SMs have one more than others.
    uneven = -(-work.blocks // busy) / (work.blocks / busy) if waves < 1 else 1.0
    cycles = busy * card.clock_hz / uneven
    again = work.load_sectors - work.block_sectors
    apart = max(0.0, work.block_sectors - work.load_least)
    partial = max(0.0, work.store_sectors - work.store_least)
    reads = work.block_sectors + c.missed * again + (c.scattered - 1) * apart
    writes = work.store_sectors + (c.partial - 1) * partial + 2 * work.atomics
    return {
        "memory": (work.fetched + work.written) / card.copy_bytes_per_second,
        "L2": (reads + writes) * SECTOR / (c.l2 * cycles),
        "L1": (c.request + c.piece * (work.pieces - 1)) * work.requests / cycles,
        "shared memory": c.wavefront * work.wavefronts / cycles,
        "arithmetic": (work.operations + 16 * work.special + 2 * work.wide_operations) / (LANES * cycles),
        "waiting": max(1.0, waves) * block_seconds(work, c),
        "dispatch": work.blocks * c.dispatch,
    }


def block_seconds(work: Work, c: Constants) -> float:
    """Seconds from a block's start to its end if nothing but itself is in its way."""
    if work.load_sectors:
        to_l2 = min(1.0, (work.block_sectors + c.missed * (work.load_sectors - work.block_sectors))
                    / work.load_sectors)  # fmt: skip
        to_memory = min(to_l2, work.fetched / (SECTOR * work.load_sectors))
    else:
        to_l2 = to_memory = 0.0
    load = c.inner + to_l2 * (c.near - c.inner) + to_memory * (c.far - c.near)
    own = c.begin + c.warp * work.warps + work.barriers * c.barrier
    return own + work.rounds * load + work.shared_rounds * c.shared


def seconds(work: Work, card: Card, c: Constants | None = None) -> float:
    """The whole launch, alone on the GPU, with cold caches."""
    c = c or constants()
    found = [t for t in terms(work, card, c).values() if t > 0]
    longest = max(found, default=0.0)
    if not longest:
        return c.launch
    return float(c.launch + longest * sum((t / longest) ** c.norm for t in found) ** (1 / c.norm))


def limit(work: Work, card: Card) -> str:
    """The part of the GPU that needs the longest, in a word or two."""
    found = terms(work, card, constants())
    return max(found, key=found.__getitem__)
