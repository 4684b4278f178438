"""A trace file for ui.perfetto.dev or chrome://tracing: JSON in Chrome's Trace Event format.

Made anew from numbers: nothing that a player wrote goes into it as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Struct, UnsetType

from grader.profiling.profile.kernel_rows import counted, floor, kernel, shape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.domain.gpu_card import Card
    from grader.protocol.messages import Launch

FROM_COUNTS = "floors for {}, from counts: one launch after another, not measured"


class Event(Struct, frozen=True):
    """An event; ``ts`` and ``dur`` in microseconds. ``ph``: "X" is one with a duration, "M" gives a name."""

    name: str
    ph: str
    ts: float
    args: dict[str, str | int]
    dur: float | UnsetType = UNSET
    cat: str | UnsetType = UNSET
    pid: int = 1
    tid: int = 1


class Trace(Struct, frozen=True):
    """A whole file."""

    traceEvents: list[Event]  # noqa: N815 (so the format calls it)
    displayTimeUnit: str = "ns"  # noqa: N815

    def as_json(self) -> bytes:
        """The file's content."""
        return msgspec.json.encode(self)


def floors(launches: Iterable[Launch], card: Card) -> Trace:
    """Each launch as long as the card needs at least."""
    events, at = _names(FROM_COUNTS.format(card.name), "device"), 0.0
    for x in launches:
        counts = counted(x)
        takes = 1e6 * floor(counts.moved_bytes, counts.flops, card)
        facts = _facts(x) | {
            "operations": counts.flops,
            "read bytes": counts.read_bytes, "written bytes": counts.written_bytes,
            "sectors of loads": counts.global_load.sectors, "requests of loads": counts.global_load.requests,
            "sectors of stores": counts.global_store.sectors,
            "requests of stores": counts.global_store.requests,
            "what the duration is": f"a floor for {card.name}, not a measurement",
        }  # fmt: skip
        events.append(_event(x, at, takes, facts))
        at += takes
    return Trace(events)


def times(launches: Iterable[Launch], device: str) -> Trace:
    """Each launch when and as long as torch.profiler saw it on the device."""
    begin = min((x.began for x in launches), default=0.0)
    events = _names(device, "kernels, by torch.profiler")
    events += [_event(x, 1e6 * (x.began - begin), 1e6 * x.seconds, _facts(x)) for x in launches]
    return Trace(events)


def _names(process: str, thread: str) -> list[Event]:
    return [
        Event("process_name", "M", 0.0, {"name": process}),
        Event("thread_name", "M", 0.0, {"name": thread}),
    ]


def _event(x: Launch, at: float, takes: float, facts: dict[str, str | int]) -> Event:
    return Event(kernel(x), "X", at, facts, takes, "kernel")


def _facts(x: Launch) -> dict[str, str | int]:
    return {"grid": shape(x.grid), "block": shape(x.block)}
