"""Answers to another question about a trace than the one that was asked, and in words what each of them is.

What a reader of a trace confuses: the first, the last and the longest kernel, their sum and their mean; the
host and the device; where a time is counted from; what belongs to a region, its step or the whole trace.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.referee.parts.trace_events import Recorded, TraceEvent, copies, longest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Told = tuple[float, str]  # a number, and what it is


def mistaken(key: str, t: Recorded, step: TraceEvent, region: str) -> dict[float, str]:
    """The numbers that an answer to the question ``key`` is by mistake, the likelier of two equal ones."""
    found: dict[float, str] = {}
    for value, words in MISTAKES[key](t, step, region):
        found.setdefault(value, f" {words}")
    return found


def _since(t: Recorded, step: TraceEvent, _region: str) -> Iterator[Told]:
    yield len(t.kernels), f"That is all kernels of the trace; those of steps before {step.name} do not count."
    alone = f"That is what {step.name} launched by itself; the steps after it count as well."
    yield len(t.launched_in(step)), alone
    yield len(t.since(step)), "That counts the copies as well; asked for are the kernels, cat kernel."
    before = sum(e.start < step.start for e in t.launches.values() if "Launch" in e.name)
    yield before, f"That is what was launched before {step.name}."


def _count(t: Recorded, step: TraceEvent, region: str) -> Iterator[Told]:
    here = t.region(region, step)
    yield (
        len(t.launched_in(step)),
        f"That is all kernels that {step.name} launched, in '{region}' and outside of it.",
    )
    inside = [e for e in t.of_kind("cpu_op") if here.holds(e)]
    yield len(inside), "That is the operators on the host, cat cpu_op; a kernel has cat kernel."
    overlap = [e for e in t.kernels if here.holds(e)]
    meanwhile = (
        f"That is the kernels that ran while the host was in '{region}'; it launched others, which ran later."
    )
    yield len(overlap), meanwhile


def _of_kernels(t: Recorded, step: TraceEvent, region: str, but: str) -> Iterator[Told]:
    """Times of a region's kernels, the one that is asked for left out."""
    mine = t.launched_in(t.region(region, step))
    asked = f"asked for is the {but} one."
    total = sum(e.takes for e in mine)
    if but != "longest":
        yield (
            longest(mine).takes,
            f"That is the longest kernel; {'it is not the last one.' if but == 'last' else asked}",
        )
    if but != "last":
        yield mine[-1].takes, "That is the last kernel; another one is longer."
    yield mine[0].takes, f"That is the first kernel; {asked}"
    yield total, f"That is all kernels of '{region}' together; {asked}"
    yield total / len(mine), f"That is the mean of the kernels of '{region}'; {asked}"
    yield (
        t.region(region, step).takes,
        f"That is how long the host was in '{region}'; the kernel is on the device, cat kernel.",
    )
    every = t.launched_in(step)
    one = longest(every) if but == "longest" else every[-1]
    yield one.takes, f"That is the {but} kernel of the whole {step.name}; asked for is that of '{region}'."
    launch = t.launches[(longest(mine) if but == "longest" else mine[-1]).correlation]
    yield (
        launch.takes,
        f"That is how long its launch took on the host, {launch.name}; the kernel has cat kernel.",
    )


def _host(t: Recorded, step: TraceEvent, region: str) -> Iterator[Told]:
    mine = t.launched_in(t.region(region, step))
    asked = f"asked for is how long '{region}' itself takes on the host: its `dur` with cat user_annotation."
    yield longest(mine).takes, f"That is the region's longest kernel, on the device; {asked}"
    span = max(e.end for e in mine) - mine[0].start
    yield span, f"That is from the start of the region's first kernel to the end of its last; {asked}"
    yield sum(e.takes for e in mine), f"That is the time of the region's kernels on the device; {asked}"
    yield step.takes, f"That is the whole {step.name}; {asked}"
    calls = [t.launches[e.correlation].takes for e in mine]
    yield sum(calls), f"That is the launches of the region's kernels alone; {asked}"


def _delay(t: Recorded, step: TraceEvent, region: str) -> Iterator[Told]:
    here = t.region(region, step)
    mine = t.launched_in(here)
    first, last = mine[0], mine[-1]
    launch = t.launches[first.correlation]
    asked = (
        f"asked for is the time from the start of its launch, the {launch.name} with the same correlation."
    )
    yield first.start - here.start, f"That is counted from the start of '{region}'; {asked}"
    yield first.start - launch.end, f"That is counted from the end of the launch; {asked}"
    yield first.start - here.end, f"That is counted from the end of '{region}'; {asked}"
    yield first.start - step.start, f"That is counted from the start of {step.name}; {asked}"
    yield (
        first.end - launch.start,
        "That is counted to the end of the kernel; asked for is the time until it starts.",
    )
    yield launch.start - here.start, f"That is the time from the start of '{region}' to the launch; {asked}"
    yield launch.takes, f"That is how long the launch took on the host; {asked}"
    yield first.takes, f"That is how long the kernel took; {asked}"
    yield (
        last.start - t.launches[last.correlation].start,
        "That is the delay of the last kernel; asked for is that of the first.",
    )
    delays = [e.start - t.launches[e.correlation].start for e in mine]
    yield (
        sum(delays) / len(delays),
        "That is the mean delay of the region's kernels; asked for is that of the first.",
    )


def _rest(t: Recorded, step: TraceEvent, region: str) -> Iterator[Told]:
    mine = t.launched_in(t.region(region, step))
    total, most = sum(e.takes for e in mine), longest(mine).takes
    share = 100 * most / total
    yield share, f"{share:.4g} % is what the longest kernel takes; asked for is the rest, 100 minus that."
    yield (
        total - most,
        "That is the rest in microseconds; asked for is how many percent of all kernels it is.",
    )
    yield (
        100 * (total - most) / most,
        "That is the rest in percent of the longest kernel; asked for is percent of all kernels.",
    )
    yield (
        100 * mine[-1].takes / total,
        "That is the share of the last kernel; asked for is all but the longest.",
    )
    every = t.launched_in(step)
    whole = 100 - 100 * longest(every).takes / sum(e.takes for e in every)
    yield whole, f"That is the rest of all kernels of {step.name}; asked for is that of '{region}'."


def _idle(t: Recorded, step: TraceEvent, _region: str) -> Iterator[Told]:
    done = t.since(step)
    span = max(e.end for e in done) - done[0].start
    busy = 100 * t.busy(done) / span
    yield busy, f"{busy:.4g} % is how long the GPU was busy; asked for is the rest, 100 minus that."
    yield (
        span - t.busy(done),
        "That is the idle time in microseconds; asked for is how many percent of the whole it is.",
    )
    mine = [e for e in done if step.holds(t.launches[e.correlation])]
    until = max(e.end for e in mine)
    of_step = 100 * (1 - t.busy(mine) / (until - mine[0].start))
    yield (
        of_step,
        f"That is up to the end of what {step.name} launched; asked for is up to the end of the trace.",
    )
    kernels = [e for e in done if e.kind == "kernel"]
    alone = 100 * (1 - t.busy(kernels) / span)
    yield alone, "That takes the GPU to be idle while it copies; a copy is work, too."
    between = 100 * (1 - t.busy(kernels) / (kernels[-1].end - kernels[0].start))
    yield between, "That is from the first kernel to the last; the copies count as well."


def _copy(t: Recorded, step: TraceEvent, _region: str) -> Iterator[Told]:
    done = copies(t, step)
    moved, calls = sum(e.copied_bytes for e in done), [t.launches[e.correlation] for e in done]
    asked = "asked for is what the device took, the `dur` of the copy with cat gpu_memcpy."
    yield (
        moved / sum(c.takes for c in calls) / 1e3,
        f"That divides by how long the host took for {calls[0].name}; {asked}",
    )
    yield (
        moved / t.region("load batch", step).takes / 1e3,
        f"That divides by how long the host was in 'load batch'; {asked}",
    )
    yield (
        moved / (done[-1].end - calls[0].start) / 1e3,
        f"That divides by the time from the host's call to the end of the copy; {asked}",
    )
    yield moved / step.takes / 1e3, f"That divides by how long {step.name} took on the host; {asked}"


def _threads(t: Recorded, step: TraceEvent, region: str) -> Iterator[Told]:
    mine = t.launched_in(t.region(region, step))
    last = mine[-1]
    blocks, threads = math.prod(last.grid[:3]), math.prod(last.block[:3])
    yield (
        threads,
        (
            f"{threads:g} is the size of one block (`block`); "
            "the kernel has that many in each of its blocks (`grid`)."
        ),
    )
    yield (
        blocks,
        f"{blocks:g} is the number of blocks (`grid`); each of them has as many threads as `block` says.",
    )
    for which, one in (("longest", longest(mine)), ("first", mine[0])):
        yield _all(one), f"That is the threads of the {which} kernel; asked for is the last one."
    yield (
        sum(map(_all, mine)),
        f"That is the threads of all kernels of '{region}'; asked for are those of the last one.",
    )
    yield (
        blocks + threads,
        "That adds `grid` and `block`; each of the blocks has as many threads as `block` says.",
    )


def _all(kernel: TraceEvent) -> float:
    return math.prod(kernel.grid[:3]) * math.prod(kernel.block[:3])


MISTAKES: dict[str, Callable[[Recorded, TraceEvent, str], Iterator[Told]]] = {
    "kernels": _since,
    "in_region": _count,
    "longest": lambda t, s, r: _of_kernels(t, s, r, "longest"),
    "last": lambda t, s, r: _of_kernels(t, s, r, "last"),
    "host": _host,
    "delay": _delay,
    "rest": _rest,
    "idle": _idle,
    "copy": _copy,
    "threads": _threads,
}
