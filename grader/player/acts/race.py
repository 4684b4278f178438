"""Timed calls in blocks. The referee holds the other clock, and looks at every result."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from grader.player import tensors

if TYPE_CHECKING:
    from grader.player.acts import Line
    from grader.player.stage import Stage

# Held since before the submission is loaded (a GPU's player imports this module when it starts): what it puts
# in their place later on is not asked.
Event, synchronize, empty_cache = torch.cuda.Event, torch.cuda.synchronize, torch.cuda.empty_cache
record, elapsed, now = torch.cuda.Event.record, torch.cuda.Event.elapsed_time, time.perf_counter
MOST = 4096


def overwrite(buffer: torch.Tensor) -> None:
    """Fill the cache with something else."""
    buffer.zero_()


@dataclass(slots=True)
class Track:
    """What lies ready between two blocks: inputs as given, the target, results of the last block."""

    target: Callable[..., Any]
    given: list[list[Any]]
    flush: torch.Tensor
    events: list[tuple[torch.cuda.Event, torch.cuda.Event]]
    results: list[list[torch.Tensor]] = field(default_factory=list)
    padding: list[torch.Tensor] = field(default_factory=list)


_tracks: dict[str, Track] = {}


def perform(stage: Stage, line: Line, step: str, track: str, **fields: Any) -> dict[str, Any]:
    """``step``: "ready", "move", "block" or "results", see there. A trusted player may hold several."""
    if step == "ready":
        return _ready(stage, track, **fields)
    if step == "move":
        return _move(_tracks[track], **fields)
    return _block(_tracks[track], **fields) if step == "block" else _results(stage, _tracks[track], **fields)


def _ready(
    stage: Stage,
    name: str,
    entry: str,
    sets: list[list[dict[str, Any]]],
    flush: int,
    compiled: str = "",
    copy: int = 0,
) -> dict[str, Any]:
    """Take the sets of inputs. ``compiled``: by torch.compile in that mode. ``copy``: time a copy of n bytes.

    Persisting lines of the L2 cache are given back, so that none outlive the file that set them.
    """
    target = stage.target(entry) if not copy else _copy(copy)
    if compiled:
        target = torch.compile(target, mode=None if compiled == "default" else compiled)
    given = [stage.arguments(args) for args in sets]
    buffer = torch.empty(flush, dtype=torch.uint8, device=stage.device)
    _reset_persisting()
    _tracks[name] = Track(target, given, buffer, [])
    host = []
    with torch.no_grad():
        for args in [*given, *given, *given]:  # compiles, and warms the allocator
            synchronize()
            begun = now()
            target(*args)
            host.append(now() - begun)
    synchronize()
    return {"overhead": _overhead(), "host": sorted(host)[len(host) // 2], "flush": _flushing(buffer)}


def _move(track: Track, fresh: tuple[str, ...]) -> dict[str, Any]:
    """What is in ``fresh`` is not where it was in the block before: "memory", "events"."""
    track.results.clear()
    if "memory" in fresh:
        track.padding.clear()
        empty_cache()
        track.padding = elsewhere()
    if "events" in fresh:
        track.events.clear()
    return {}


def _block(
    track: Track,
    order: list[int],
    factor: float,
    times: int = 1,
    keep: bool = True,
    fresh: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Call once for each number in ``order`` with that set of inputs, all multiplied by ``factor``.

    Before each call the cache is overwritten, ``times`` times over, so that the device is still busy while
    the host prepares the call, and never waits for it. Answers each call's seconds by events. Each result
    is copied right after its call, on the same stream: what is written later on is not in the copy.
    ``fresh``: what was moved about since the block before, and "stream", another than the current one. With
    "warm" each timed call follows one with another set: its code lies in the caches and its data does not.
    """
    track.results.clear()
    sets = [[_scaled(a, factor) for a in args] for args in track.given]
    order = order[:MOST]
    while len(track.events) < len(order):
        track.events.append(_pair())
    target, flush, events, results = track.target, track.flush, track.events, track.results
    synchronize()
    gc.disable()
    try:
        with torch.no_grad(), on_stream("stream" in fresh):
            value = target(*sets[order[0]])  # code and translation tables are warm again after another's turn
            if fresh:  # so that the allocator need not ask the driver between timed calls
                room = [_copies(value) for _ in range(len(order) + 2)]
                del room
            synchronize()
            for number, (before, after) in zip(order, events, strict=False):
                for _ in range(times):
                    overwrite(flush)
                if "warm" in fresh:
                    value = target(*sets[number - 1])
                record(before)
                value = target(*sets[number])
                record(after)
                if keep:
                    results.append(_copies(value))
            synchronize()
    finally:
        gc.enable()
    return {"seconds": [elapsed(b, a) / 1e3 for b, a in events[: len(order)]]}


def elsewhere() -> list[torch.Tensor]:
    """Some memory that is taken and not used, so that what is allocated next lies where nobody foresees."""
    chance = random.SystemRandom()
    sizes = [chance.randrange(1, 33) << 18 for _ in range(chance.randrange(1, 9))]
    return [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]


def on_stream(other: bool) -> contextlib.AbstractContextManager[Any]:
    """Another current stream, or the one that there is."""
    if not other:
        return contextlib.nullcontext()
    return torch.cuda.stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]


def _results(stage: Stage, track: Track, calls: list[int], out: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Write the results of these calls of the last block into the outbox; answers what they are."""
    facts = []
    for call, places in zip(calls, out, strict=True):
        found = track.results[call] if call < len(track.results) else []
        facts.append([[list(t.shape), tensors.name_of(t.dtype)] for t in found])
        for tensor, want in zip(found, places, strict=False):
            if list(tensor.shape) == want["shape"] and tensors.name_of(tensor.dtype) == want["dtype"]:
                tensors.put(stage.outbox, want["at"], tensor)
    return {"facts": facts}


def _copies(value: Any) -> list[torch.Tensor]:
    found = value if isinstance(value, (tuple, list)) else [value]
    return [v.detach().clone() for v in found if tensors.readable(v)]


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value * factor
    return value.clone() if isinstance(value, torch.Tensor) else value


def _copy(nbytes: int) -> Callable[..., torch.Tensor]:
    source = torch.zeros(nbytes // 4, device="cuda")
    target = torch.empty_like(source)
    return lambda *_: target.copy_(source)


def _overhead() -> float:
    """Seconds between two events with nothing in between; the median of 50."""
    pairs = [_pair() for _ in range(50)]
    for before, after in pairs:
        record(before)
        record(after)
    synchronize()
    return float(sorted(elapsed(b, a) / 1e3 for b, a in pairs)[25])


def _flushing(buffer: torch.Tensor) -> float:
    """Seconds that overwriting the cache once takes; the median of 9."""
    found = []
    for _ in range(9):
        before, after = _pair()
        record(before)
        overwrite(buffer)
        record(after)
        synchronize()
        found.append(elapsed(before, after) / 1e3)
    return float(sorted(found)[4])


def _pair() -> tuple[torch.cuda.Event, torch.cuda.Event]:
    return Event(enable_timing=True), Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _reset_persisting() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache()
