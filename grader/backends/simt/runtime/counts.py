"""Launches and their counts: what Nsight Compute would count, in total and for each line of the source."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, cast

import msgspec

from grader.backends.simt.addresses import Place, resolve
from grader.backends.simt.runtime.arithmetic import WEIGHT, operations
from grader.backends.simt.runtime.library_reports import BasicBlock, RawCounts, RawLaunch
from grader.backends.simt.runtime.occupancy import occupancy
from grader.domain import typed_data
from grader.protocol.messages import (
    Counts,
    Divergence,
    Launch,
    LineRequests,
    Requests,
    SharedRequests,
    Traffic,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

ACCESS = {1: "store", 2: "load", 3: "atomic"}
SPACES = ("global", "shared", "variable")
Places = dict[tuple[str, int], Place]


def launches(said: bytes) -> list[Launch]:
    """The launches in the library's JSON; with ``counts`` where counting was on."""
    raw = typed_data.decode(said, list[RawLaunch])
    counted = [(x.module, x.counts) for x in raw if x.counts]
    wanted = {(module, i.pc) for module, c in counted for i in c.instructions}
    places = resolve(wanted | {(module, b.pc) for module, c in counted for b in c.blocks})
    return [_launch(x, places) for x in raw]


def _launch(x: RawLaunch, places: Places) -> Launch:
    return Launch(
        kernel=x.kernel,
        grid=x.grid,
        block=x.block,
        launch=x.launch,
        shared_bytes=x.shared_bytes,
        static_shared_bytes=x.static_shared_bytes,
        file=x.file,
        line=x.line,
        default_stream=bool(x.default_stream),
        own_stream=bool(x.own_stream),
        counts=_counts(x, x.counts, places) if x.counts else None,
    )


def _counts(x: RawLaunch, raw: RawCounts, places: Places) -> Counts:
    lines = _lines(raw, x.module, places)
    warps, lanes = sum(b.warps for b in raw.blocks), sum(b.lanes for b in raw.blocks)
    return Counts(
        global_load=_total(lines, "global_load"),
        global_store=_total(lines, "global_store"),
        global_atomic=_total(lines, "global_atomic"),
        shared_load=_shared(lines, "shared_load"),
        shared_store=_shared(lines, "shared_store"),
        shared_atomic=_shared(lines, "shared_atomic"),
        variable_load=_total(lines, "variable_load"),
        variable_store=_total(lines, "variable_store"),
        variable_atomic=_total(lines, "variable_atomic"),
        barriers=raw.barriers,
        tensor_operations=raw.tensor_operations,
        read_bytes=raw.read_bytes,
        written_bytes=raw.written_bytes,
        fetched_bytes=raw.fetched_bytes,
        block_read_bytes=raw.block_read_bytes,
        operations=_operations(raw.blocks, x.module),
        active_lanes=lanes / warps if warps else 0.0,
        divergent=_divergent(raw.blocks, x.module, places),
        sampled=raw.skipped_blocks > 0,
        exact=raw.skipped_blocks == 0 or bool(raw.regular),
        lines=lines,
        occupancy=occupancy(math.prod(x.block), x.shared_bytes + x.static_shared_bytes),
    )


def _lines(raw: RawCounts, module: str, places: Places) -> tuple[LineRequests, ...]:
    """One entry for each instruction that touches memory, in the order of the source."""
    found = []
    for i in raw.instructions:
        file, line = places[module, i.pc]
        what = cast("Traffic", f"{SPACES[i.space]}_{ACCESS[i.access]}")
        found.append(
            LineRequests(
                i.requests, i.sectors, i.wavefronts, i.lanes, i.least,
                file=file, line=line, what=what, size=i.size,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda entry: (entry.file, entry.line, entry.what)))


def _total(lines: Iterable[LineRequests], what: Traffic) -> Requests:
    own = [x for x in lines if x.what == what]
    return Requests(*(sum(getattr(x, key) for x in own) for key in Requests.__struct_fields__))


def _shared(lines: Iterable[LineRequests], what: Traffic) -> SharedRequests:
    total = _total(lines, what)
    return SharedRequests(**msgspec.structs.asdict(total), conflicts=total.wavefronts - total.least)


def _operations(blocks: list[BasicBlock], module: str) -> dict[str, int]:
    """How often each kind of floating-point operation was executed by a thread; ``flops`` is their sum."""
    found = operations(module)
    total: Counter[str] = Counter()
    for block in blocks:
        for kind, number in found.get(block.pc, {}).items():
            total[kind] += number * block.lanes
    total["flops"] = sum(n * WEIGHT.get(kind, 1) for kind, n in total.items())
    return dict(total)


def _divergent(blocks: list[BasicBlock], module: str, places: Places) -> tuple[Divergence, ...]:
    """Lines that warps ran with some lanes only: how often, and with how many lanes on average."""
    warps: Counter[Place] = Counter()
    lanes: Counter[Place] = Counter()
    for block in blocks:
        if block.lanes < 32 * block.warps:
            place = places[module, block.pc]
            warps[place] += block.warps
            lanes[place] += block.lanes
    return tuple(
        Divergence(place[0], place[1], warps[place], lanes[place] / warps[place])
        for place in sorted(warps)
        if place[1]
    )
