"""Read a Chrome trace as ``torch.profiler`` writes it, and answer questions about it from its events."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx")
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """A complete event: ``start`` and ``takes`` in microseconds.

    ``correlation``: the same number for a launch on the host and for what the device did for it. ``shapes``:
    of an operator's inputs. ``grid`` and ``block``: of a kernel. ``copied_bytes``: of a copy.
    """

    name: str
    kind: str
    start: float
    takes: float
    correlation: int | None = None
    shapes: list[object] = field(default_factory=list)
    grid: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    copied_bytes: float = 0.0

    @property
    def end(self) -> float:
        """When it was over."""
        return self.start + self.takes

    def holds(self, other: TraceEvent) -> bool:
        """Whether ``other`` begins while this one lasts."""
        return self.start <= other.start < self.end


def events(trace: object) -> list[TraceEvent]:
    """The complete events of a parsed trace, in order of time; what is malformed is left out."""
    listed = trace.get("traceEvents") if isinstance(trace, dict) else trace
    found = [event for e in _list(listed) if (event := _event(e))]
    return sorted(found, key=lambda e: e.start)


def _event(e: object) -> TraceEvent | None:
    if not isinstance(e, dict) or e.get("ph") != "X":
        return None
    start, takes, args = e.get("ts"), e.get("dur"), e.get("args", {})
    if not _is_number(start) or not _is_number(takes) or not isinstance(args, dict):
        return None
    correlation, copied = args.get("correlation"), args.get("bytes")
    return TraceEvent(
        str(e.get("name", "")),
        str(e.get("cat", "")),
        float(start),
        float(takes),
        correlation=correlation if isinstance(correlation, int) else None,
        shapes=_list(args.get("Input Dims")),
        grid=_wholes(args.get("grid")),
        block=_wholes(args.get("block")),
        copied_bytes=float(copied) if _is_number(copied) else 0.0,
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _wholes(value: object) -> list[int]:
    return [n for n in _list(value) if isinstance(n, int)]


def read(path: Path) -> list[TraceEvent]:
    """The events of a ``.json`` or ``.json.gz`` file of the course."""
    data = path.read_bytes()
    return events(json.loads(gzip.decompress(data) if path.suffix == ".gz" else data))


class Recorded:
    """A trace and the ways to look at it that the questions need."""

    def __init__(self, listed: list[TraceEvent]) -> None:
        self.all = listed
        self.device = [e for e in listed if e.kind in ON_DEVICE]
        self.kernels = [e for e in listed if e.kind == "kernel"]
        self.launches = {e.correlation: e for e in listed if e.kind.startswith("cuda_")}

    def of_kind(self, kind: str) -> list[TraceEvent]:
        """Events of one kind."""
        return [e for e in self.all if e.kind == kind]

    def steps(self) -> list[TraceEvent]:
        """The profiler's steps on the host."""
        return [e for e in self.of_kind("user_annotation") if e.name.startswith("ProfilerStep#")]

    def region(self, name: str, step: TraceEvent) -> TraceEvent:
        """The annotated region ``name`` of a step."""
        return next(e for e in self.of_kind("user_annotation") if e.name == name and step.holds(e))

    def launched_in(self, region: TraceEvent, kinds: tuple[str, ...] = ("kernel",)) -> list[TraceEvent]:
        """What the device did for calls that the host made in ``region``, in the order of their start."""
        mine = {c for c, e in self.launches.items() if region.holds(e)}
        return [e for e in self.device if e.kind in kinds and e.correlation in mine]

    def since(self, step: TraceEvent) -> list[TraceEvent]:
        """What the device did for launches of ``step`` and of the steps after it."""
        mine = {c for c, e in self.launches.items() if e.start >= step.start}
        return [e for e in self.device if e.correlation in mine]

    @staticmethod
    def busy(done: list[TraceEvent]) -> float:
        """Microseconds in which the device did something of ``done``, which is in order of time."""
        total, until = 0.0, -1.0
        for e in done:
            total += max(0.0, e.end - max(e.start, until))
            until = max(until, e.end)
        return total


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words, with ``{step}``, ``{region}`` to fill in, its unit, and how it is answered."""

    key: str
    words: str
    unit: str
    answer: Callable[[Recorded, TraceEvent, str], float | str]


def longest(kernels: list[TraceEvent]) -> TraceEvent:
    """The one that takes longest."""
    return max(kernels, key=lambda e: e.takes)


def _idle(t: Recorded, step: TraceEvent, _region: str) -> float:
    done = t.since(step)
    span = max(e.end for e in done) - done[0].start
    return 100 * (1 - t.busy(done) / span)


def _delay(t: Recorded, step: TraceEvent, region: str) -> float:
    first = t.launched_in(t.region(region, step))[0]
    return first.start - t.launches[first.correlation].start


def copies(t: Recorded, step: TraceEvent) -> list[TraceEvent]:
    """The copies of a step's batch."""
    found = t.launched_in(t.region("load batch", step), ("gpu_memcpy",))
    return [e for e in found if e.copied_bytes]


def _copy_rate(t: Recorded, step: TraceEvent, _region: str) -> float:
    done = copies(t, step)
    return sum(e.copied_bytes for e in done) / sum(e.takes for e in done) / 1e3


def _threads(t: Recorded, step: TraceEvent, region: str) -> float:
    last = t.launched_in(t.region(region, step))[-1]
    return float(math.prod(last.grid[:3]) * math.prod(last.block[:3]))


def _rest(t: Recorded, step: TraceEvent, region: str) -> float:
    mine = t.launched_in(t.region(region, step))
    return 100 - 100 * longest(mine).takes / sum(e.takes for e in mine)


QUESTIONS = (
    Question(
        "kernels",
        "How many kernels did {step} and the steps after it launch?",
        "kernels",
        lambda t, s, _r: sum(e.kind == "kernel" for e in t.since(s)),
    ),
    Question(
        "in_region",
        "How many kernels did '{region}' of {step} launch?",
        "kernels",
        lambda t, s, r: len(t.launched_in(t.region(r, s))),
    ),
    Question(
        "longest",
        "How long did the longest kernel launched by '{region}' of {step} take?",
        "us",
        lambda t, s, r: longest(t.launched_in(t.region(r, s))).takes,
    ),
    Question(
        "last",
        "How long did the last kernel launched by '{region}' of {step} take?",
        "us",
        lambda t, s, r: t.launched_in(t.region(r, s))[-1].takes,
    ),
    Question(
        "host",
        "How long was the host busy with '{region}' of {step}?",
        "us",
        lambda t, s, r: t.region(r, s).takes,
    ),
    Question(
        "delay",
        "How long after the start of its launch did the first kernel of '{region}' of {step} start?",
        "us",
        _delay,
    ),
    Question(
        "rest",
        "How many percent of the kernel time of '{region}' of {step} are left without its longest kernel?",
        "%",
        _rest,
    ),
    Question(
        "idle",
        "From the start of the first kernel or copy that {step} launched to the end of the last thing that "
        "the GPU did in the whole trace: for how many percent of this time was the GPU idle?",
        "%",
        _idle,
    ),
    Question("copy", "How fast was the copy of the batch to the GPU in {step}?", "GB/s", _copy_rate),
    Question(
        "threads",
        "How many threads did the last kernel launched by '{region}' of {step} have?",
        "threads",
        _threads,
    ),
)
