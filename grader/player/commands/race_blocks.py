"""Timed calls in blocks. The referee holds the other clock, and looks at every result."""

from __future__ import annotations

import gc
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from grader.player import tensors
from grader.player.timing.busy_work import lead as leading
from grader.player.timing.busy_work import size_for
from grader.player.timing.fresh_inputs import Track, fill, noise, own
from grader.player.timing.placement import elsewhere, memory, reset_persisting
from grader.player.timing.result_copies import copies, sum_of_bits
from grader.player.timing.streams_and_cache import copying, on_stream, overwrite, waiting

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage

# Held since before the submission is loaded (a GPU's player imports this module when it starts): what it puts
# in their place later on is not asked.
Event, synchronize, empty_cache = torch.cuda.Event, torch.cuda.synchronize, torch.cuda.empty_cache
record, elapsed, now = torch.cuda.Event.record, torch.cuda.Event.elapsed_time, time.perf_counter
MOST = 4096


_tracks: dict[str, Track] = {}


def perform(stage: Stage, callback: Callback, step: str, track: str, **fields: Any) -> dict[str, Any]:
    """``step``: "ready", "lead", "prepare", "block" or "results", see there; a trusted player has many."""
    if step == "ready":
        return _ready(stage, track, **fields)
    if step == "lead":
        return _lead(str(_tracks[track].flush.device))
    if step == "prepare":
        return _prepare(_tracks[track], **fields)
    return _block(_tracks[track], **fields) if step == "block" else _results(stage, _tracks[track], **fields)


def _ready(
    stage: Stage,
    name: str,
    entry: str,
    sets: list[list[dict[str, Any]]],
    loose: list[bool],
    flush: int,
    compiled: str = "",
    copy: int = 0,
) -> dict[str, Any]:
    """Take the sets of inputs. ``compiled``: by torch.compile in that mode. ``copy``: time a copy of n bytes.

    Persisting lines of the L2 cache are given back, so that none outlive the file that set them. Answers
    seconds: ``host`` of one turn of the loop in a block without the cache's part, ``flush`` of overwriting
    the cache once, ``overhead`` between two events.
    """
    target = stage.target(entry) if not copy else copying(copy)
    if compiled:
        target = torch.compile(target, mode=None if compiled == "default" else compiled)
    given = [stage.arguments(args) for args in sets]
    buffer = torch.empty(flush, dtype=torch.uint8, device=stage.device)
    reset_persisting()
    track = _tracks[name] = Track(target, given, loose, buffer)
    _prepare(track, 1)
    host, pair = [], _pair()
    with torch.no_grad():
        for number in [*range(len(given))] * 3:  # compiles, and warms the allocator
            synchronize()
            begun = now()
            fill(track, number, number)
            record(pair[0])
            value = target(*track.sets[number])
            record(pair[1])
            copies(value)
            host.append(now() - begun)
    synchronize()
    seconds = _flushing(buffer)
    return {"overhead": _overhead(buffer, seconds), "host": sorted(host)[len(host) // 2], "flush": seconds}


def _prepare(track: Track, calls: int, fresh: tuple[str, ...] = (), lead: int = 0) -> dict[str, Any]:
    """Before a block: everything that takes the host longer at one time than at another.

    What is in ``fresh`` is not where it was in the block before: "memory", "events", "stream". With "warm"
    each timed call follows one with another set: its code lies in the caches and its data does not.
    ``lead``: the size of the matrices of a block that begins with work.
    Nothing of the block's inputs is known yet, so no work on them can be done here.
    """
    track.results.clear()
    track.room.clear()
    track.fresh = fresh
    track.padding = []
    if "memory" in fresh:
        size, device = track.flush.numel(), track.flush.device
        track.sets, track.noise, track.flush = [], [], track.flush.new_empty(0)
        empty_cache()
        track.padding += elsewhere()
        track.flush = torch.empty(size, dtype=torch.uint8, device=device)
    if "events" in fresh:
        track.events.clear()
        track.padding += spare()
    while len(track.events) < min(calls, MOST):
        track.events.append(recorded())
    if not track.sets:
        track.sets = [[own(value) for value in args] for args in track.given]
        track.noise = [noise(value, on) for value, on in zip(track.sets[0], track.loose, strict=True)]
    track.stream = torch.cuda.Stream() if "stream" in fresh else None  # type: ignore[no-untyped-call]
    with torch.no_grad(), on_stream(track.stream):
        # Code and translation tables are warm again after another's turn.
        value = track.target(*track.sets[0])
        # For the results, and as much again as is given back at once: room for what the calls return.
        room = [copies(value) for _ in range(calls + len(track.sets) + 2)]
        track.room = room[:calls]
        del room
        if lead:  # loads the library's code
            leading(lead, 1, 0, str(track.flush.device))
    synchronize()
    return {}


def _block(
    track: Track,
    order: list[int],
    seed: int | None = None,
    times: int = 0,
    drain: bool = False,
    waits: bool = False,
    lead: Sequence[int] = (),
) -> dict[str, Any]:
    """Call once for each number in ``order`` with that set of inputs, filled anew from ``seed``.

    Before each call the cache is overwritten, ``times`` times over, so that the device is still busy while
    the host prepares the call, and never waits for it. Answers each call's seconds by events. Each result
    is copied right after its call, on the same stream: what is written later on is not in the copy. And the
    sum of its bits is part of the answer: who has not computed a result by then does not know it. Nothing
    else is done between calls: what the host does there takes no time of a device that is behind, and takes
    its own if the call has waited for the device. ``drain``: after each call this loop waits for it too, so
    that it makes no difference whether the call has. ``waits``: a call that does it, to see what is left.
    ``lead``: size and steps of work that comes before all calls, which then follow each other. ``asked``:
    seconds until the host had asked for all; if no call waits, the device is still at the work before them.
    """
    target, sets, flush, results = track.target, track.sets, track.flush, track.results
    results.clear()
    if waits:
        target = waiting(target, empty_cache, synchronize)
    # The memory of so many calls' results in a row is not used twice, as that of their inputs is not.
    returned: deque[Any] = deque(maxlen=len(sets))
    used = list(zip(order, track.events, strict=False))
    room = [*track.room, *[[]] * len(used)]
    synchronize()
    begun = now()
    gc.disable()
    try:
        with torch.no_grad(), on_stream(track.stream):
            ahead = [leading(lead[0], lead[1], seed or 0, str(flush.device))] if lead else []
            for at, (number, (before, after)) in enumerate(used):
                fill(track, number, None if seed is None else seed + at)
                for _ in range(times):
                    overwrite(flush)
                if "warm" in track.fresh:
                    value = target(*sets[number - 1])
                record(before)
                value = target(*sets[number])
                record(after)
                if drain:
                    synchronize()
                returned.append(value)
                results.append(copies(value, room[at]))
                if track.fresh and not lead:
                    # With more work waiting in its queue, the device takes up to 1.4 us longer for a launch;
                    # how much waits depends on the host. So nothing but this call's own ever does.
                    synchronize()
            asked = now() - begun
            sums = [sum_of_bits(result).to(flush.device) for found in results for result in found]
            said = torch.stack(sums).tolist() if sums else []
            led = [float(mean) for mean in ahead]
            synchronize()
    finally:
        gc.enable()
    seconds = [elapsed(before, after) / 1e3 for _, (before, after) in used]
    return {"seconds": seconds, "sums": said, "lead": led, "asked": asked}


def spare() -> list[tuple[torch.cuda.Event, torch.cuda.Event]]:
    """Events that are not used, for the same end."""
    return [recorded() for _ in range(random.SystemRandom().randrange(256))]


def recorded() -> tuple[torch.cuda.Event, torch.cuda.Event]:
    """A pair of events that the driver has: PyTorch asks for one when it is first recorded."""
    pair = _pair()
    for event in pair:
        record(event)
    return pair


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


def _overhead(buffer: torch.Tensor, flush: float) -> float:
    """Seconds between two events with nothing in between; the median of 50.

    The device must be busy until the host has asked for all of them: else it is the host's own time.
    """
    pairs = [_pair() for _ in range(10)]
    found: list[float] = []
    times = 1
    while len(found) < 50:
        synchronize()
        begun = now()
        for _ in range(times):
            overwrite(buffer)
        for before, after in pairs:
            record(before)
            record(after)
        asked = now() - begun
        synchronize()
        if asked > times * flush / 2 and times < 64:  # the device may have waited
            times *= 2
            continue
        found += [elapsed(b, a) / 1e3 for b, a in pairs]
    return sorted(found)[25]


def _flushing(buffer: torch.Tensor) -> float:
    """Seconds that overwriting the cache once takes."""
    return _median(lambda: overwrite(buffer))


def _lead(device: str) -> dict[str, Any]:
    """``size`` of the matrices that lead on this device, ``seconds`` of a step; ``memory``: its bytes."""

    def seconds(size: int) -> float:
        return _median(lambda: leading(size, 4, 0, device), 5) / 4

    with torch.no_grad():
        size, found = size_for(seconds)
    return {"size": size, "seconds": found, "memory": memory(device)}


def _median(work: Callable[[], object], times: int = 9) -> float:
    """Seconds by events of something that is asked for on an idle device; the median."""
    found = []
    for _ in range(times):
        before, after = _pair()
        record(before)
        work()
        record(after)
        synchronize()
        found.append(elapsed(before, after) / 1e3)
    return float(sorted(found)[times // 2])


def _pair() -> tuple[torch.cuda.Event, torch.cuda.Event]:
    return Event(enable_timing=True), Event(enable_timing=True)  # type: ignore[no-untyped-call]
