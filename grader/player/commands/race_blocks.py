"""Timed calls in blocks. The referee holds the other clock, and looks at every result."""

from __future__ import annotations

import gc
import random
import time
from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from grader.domain import typed_data
from grader.player import python_hooks, tensors, torch_modes, values
from grader.player.sides import side_of
from grader.player.sides.pieces import Flat
from grader.player.timing.busy_work import keep_busy, size_for
from grader.player.timing.fresh_inputs import TimedCalls, factors_for, fill, own
from grader.player.timing.placement import elsewhere, memory_bytes, reset_persisting
from grader.player.timing.result_copies import copies, sum_of_bits
from grader.player.timing.streams_and_cache import copying, on_stream, overwrite, waiting
from grader.protocol.play import Node, Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.player.commands import Callback
    from grader.player.stage import Stage

# Held since before the submission is loaded (a GPU's player imports this module when it starts): what it puts
# in their place later on is not asked.
Event, synchronize, empty_cache = torch.cuda.Event, torch.cuda.synchronize, torch.cuda.empty_cache
record, elapsed, now = torch.cuda.Event.record, torch.cuda.Event.elapsed_time, time.perf_counter
MOST_EVENTS = 4096
Events: TypeAlias = tuple[torch.cuda.Event, torch.cuda.Event]


class Contenders(dict[str, TimedCalls]):
    """What is timed in this process, by name: of a trusted process that may be several."""


def perform(stage: Stage, _callback: Callback, step: str, contender: str, **fields: Any) -> dict[str, object]:
    """One step of a race; the contenders are kept with the stage.

    ``step``: "ready", "busy_work", "prepare", "warm", "block" or "results"; see there.
    """
    contenders = stage.kept(Contenders, Contenders)
    if step == "ready":
        contenders[contender], answer = _ready(stage, **fields)
        return answer
    timed = contenders[contender]
    if step == "busy_work":
        return _busy_work(str(timed.flush.device))
    if step == "prepare":
        return _prepare(timed, **fields)
    if step == "warm":
        return _warm(timed)
    return _block(timed, **fields) if step == "block" else _results(stage, timed, **fields)


def _ready(
    stage: Stage,
    side: str,
    sets: list[object],
    independent: list[bool],
    flush_bytes: int,
    compiled: str = "",
    copy_bytes: int = 0,
) -> tuple[TimedCalls, dict[str, object]]:
    """Take the sets of inputs, and call everything a few times.

    Persisting lines of the L2 cache are given back, so that none outlive the file that set them.

    Args:
        stage: Holds the file.
        side: Whose model or function is called, and which holds the tensors.
        sets: Of inputs, the arguments of each call as data.
        independent: Of each argument, whether its elements may be changed one by one.
        flush_bytes: Overwritten before each call.
        compiled: A mode of torch.compile, to call what that makes.
        copy_bytes: Time a copy of so many bytes instead.

    Returns:
        The contender; and seconds: ``host`` of one turn of the loop in a block without the cache's part,
        ``flush`` of overwriting the cache once, ``overhead`` between two events.
    """
    mine = side_of(stage, side)
    target = mine.target if not copy_bytes else copying(copy_bytes)
    if compiled:
        target = torch.compile(target, mode=None if compiled == "default" else compiled)
    given = [values.decode(typed_data.convert(args, Node), mine.sets) for args in sets]
    buffer = torch.empty(flush_bytes, dtype=torch.uint8, device=stage.device)
    reset_persisting()
    timed = TimedCalls(target, given, independent, buffer)
    _prepare(timed, 1)
    host_s = _host_seconds(timed)
    flush_s = _flushing(buffer)
    return timed, {"overhead": _overhead(buffer, flush_s), "host": host_s, "flush": flush_s}


def _host_seconds(timed: TimedCalls) -> float:
    """Of one turn of the loop in a block; the median. This compiles, too, and warms the allocator."""
    found, (before, after) = [], _pair()
    with torch.no_grad():
        for number in [*range(len(timed.given))] * 3:
            synchronize()
            begun = now()
            fill(timed, number, number)
            record(before)
            value = timed.target(*timed.sets[number])
            record(after)
            copies(value)
            found.append(now() - begun)
    synchronize()
    return sorted(found)[len(found) // 2]


def _prepare(
    timed: TimedCalls, calls: int, fresh: tuple[str, ...] = (), busy_work: int = 0
) -> dict[str, object]:
    """Before a block: everything that takes the host longer at one time than at another.

    What is in ``fresh`` is not where it was in the block before: "memory", "events", "stream". With "warm"
    each timed call follows one with another set: its code lies in the caches and its data does not.
    ``busy_work``: the size of the matrices of a block that begins with work.
    Nothing of the block's inputs is known yet, so no work on them can be done here.
    """
    timed.results.clear()
    timed.copies.clear()
    timed.fresh = fresh
    _move(timed, fresh)
    while len(timed.events) < min(calls, MOST_EVENTS):
        timed.events.append(recorded())
    if not timed.sets:
        timed.sets = [[own(value) for value in args] for args in timed.given]
        first = zip(timed.sets[0], timed.independent, strict=True)
        timed.factors = [factors_for(value, independent=each) for value, each in first]
    timed.stream = torch.cuda.Stream() if "stream" in fresh else None  # type: ignore[no-untyped-call]
    with torch.no_grad(), on_stream(timed.stream):
        # Code and translation tables are warm again after another's turn.
        value = timed.target(*timed.sets[0])
        # For the results, and as much again as is given back at once, for what the calls return.
        taken = [copies(value) for _ in range(calls + len(timed.sets) + 2)]
        timed.copies = taken[:calls]
        del taken
        if busy_work:  # loads the library's code
            keep_busy(busy_work, 1, 0, str(timed.flush.device))
    synchronize()
    return {}


def _warm(timed: TimedCalls) -> dict[str, object]:
    """Right before a block that was prepared earlier: code and translation tables are warm again."""
    with torch.no_grad(), on_stream(timed.stream):
        timed.target(*timed.sets[0])
    synchronize()
    return {}


def _move(timed: TimedCalls, fresh: tuple[str, ...]) -> None:
    """Give memory and events back, and take them elsewhere."""
    timed.padding = []
    if "memory" in fresh:
        nbytes, device = timed.flush.numel(), timed.flush.device
        timed.sets, timed.factors, timed.flush = [], [], timed.flush.new_empty(0)
        empty_cache()
        timed.padding += elsewhere()
        timed.flush = torch.empty(nbytes, dtype=torch.uint8, device=device)
    if "events" in fresh:
        timed.events.clear()
        timed.padding += spare()


def _block(
    timed: TimedCalls,
    order: list[int],
    seed: int | None = None,
    flushes: int = 0,
    *,
    drain: bool = False,
    waits: bool = False,
    busy_work: Sequence[int] = (),
) -> dict[str, object]:
    """Call once for each number in ``order`` with that set of inputs, filled anew from ``seed``.

    Args:
        timed: The contender.
        order: Numbers of sets.
        seed: Of the inputs; None: as they were given.
        flushes: How often the cache is overwritten before each call.
        drain: After each call this loop waits for the device, so that it makes no difference whether the call
            has.
        waits: A call that waits for the device, to see what is left.
        busy_work: Size and steps of work that comes before all calls, which then follow each other.

    Returns:
        ``seconds`` of each call by events; ``sums`` of the bits of each result: who has not computed a result
        by the end of the block does not know it; ``busy_work``: the work's result; ``asked``: seconds until
        the host had asked for all calls. If no call waits, the device is still at the work before them.
    """
    target = waiting(timed.target, empty_cache, synchronize) if waits else timed.target
    used = list(zip(order, timed.events, strict=False))
    device = str(timed.flush.device)
    timed.results.clear()
    synchronize()
    begun = now()
    gc.disable()
    try:
        with torch.no_grad(), on_stream(timed.stream):
            work = [keep_busy(busy_work[0], busy_work[1], seed or 0, device)] if busy_work else []
            alone = bool(timed.fresh and not busy_work)
            modes, hooks = torch_modes.count(), python_hooks.those_on()
            _calls(timed, target, used, seed, flushes, drain=drain, alone=alone)
            asked = now() - begun
            torch_modes.end_those_above(modes, "timed calls")
            python_hooks.end_those_since(hooks, "timed calls")
            sums = [sum_of_bits(result).to(device) for found in timed.results for result in found]
            told = torch.stack(sums).tolist() if sums else []
            worked = [float(mean) for mean in work]
            synchronize()
    finally:
        gc.enable()
    seconds = [elapsed(before, after) / 1e3 for _, (before, after) in used]
    return {"seconds": seconds, "sums": told, "busy_work": worked, "asked": asked}


def _calls(
    timed: TimedCalls, target: Callable[..., Any], used: list[tuple[int, Events]], seed: int | None,
    flushes: int, *, drain: bool, alone: bool,
) -> None:  # fmt: skip
    """The calls of a block.

    Before each call the cache is overwritten, ``flushes`` times over, so that the device is still busy while
    the host prepares the call, and never waits for it. Each result is copied right after its call, on the
    same stream: what is written later on is not in the copy. Nothing else is done between calls: what the
    host does there takes no time of a device that is behind, and takes its own if the call has waited for it.

    ``alone``: nothing but a call itself waits in the device's queue. With more work there, the device takes
    up to 1.4 us longer for a launch, and how much waits depends on the host.
    """
    sets, flush, results, warm = timed.sets, timed.flush, timed.results, "warm" in timed.fresh
    # The memory of so many calls' results is not used twice in a row, as that of their inputs is not.
    returned: deque[Any] = deque(maxlen=len(sets))
    into = [*timed.copies, *[[]] * len(used)]
    for at, (number, (before, after)) in enumerate(used):
        fill(timed, number, None if seed is None else seed + at)
        for _ in range(flushes):
            overwrite(flush)
        if warm:
            value = target(*sets[number - 1])
        record(before)
        value = target(*sets[number])
        record(after)
        if drain:
            synchronize()
        returned.append(value)
        results.append(copies(value, into[at]))
        if alone:
            synchronize()


def spare() -> list[Events]:
    """Events that are not used, for the same end."""
    return [recorded() for _ in range(random.SystemRandom().randrange(256))]


def recorded() -> Events:
    """A pair of events that the driver has: PyTorch asks for one when it is first recorded."""
    pair = _pair()
    for event in pair:
        record(event)
    return pair


def _results(
    stage: Stage, timed: TimedCalls, calls: list[int], out: list[list[tuple[int, list[int], str]]]
) -> dict[str, object]:
    """Write the results of these calls of the last block into the outbox; answers what they are."""
    facts = []
    for call, places in zip(calls, out, strict=True):
        found = timed.results[call] if call < len(timed.results) else []
        facts.append([[list(t.shape), tensors.name_of(t.dtype)] for t in found])
        for tensor, (at, shape, dtype) in zip(found, places, strict=False):
            if list(tensor.shape) == shape and tensors.name_of(tensor.dtype) == dtype:
                piece = Piece("", 0, 0, tensor.numel(), at)
                Flat(tensor).read(stage.outbox, piece)
    return {"facts": facts}


def _overhead(buffer: torch.Tensor, flush_s: float) -> float:
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
        if asked > times * flush_s / 2 and times < 64:  # the device may have waited
            times *= 2
            continue
        found += [elapsed(b, a) / 1e3 for b, a in pairs]
    return sorted(found)[25]


def _flushing(buffer: torch.Tensor) -> float:
    """Seconds that overwriting the cache once takes."""
    return _median(lambda: overwrite(buffer))


def _busy_work(device: str) -> dict[str, object]:
    """``size`` of the matrices that keep this device busy, ``seconds`` of a step; ``memory``: its bytes."""

    def seconds(size: int) -> float:
        return _median(lambda: keep_busy(size, 4, 0, device), 5) / 4

    with torch.no_grad():
        size, step_s = size_for(seconds)
    return {"size": size, "seconds": step_s, "memory": memory_bytes(device)}


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


def _pair() -> Events:
    return Event(enable_timing=True), Event(enable_timing=True)  # type: ignore[no-untyped-call]
