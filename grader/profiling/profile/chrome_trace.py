"""A trace file for ui.perfetto.dev or chrome://tracing: JSON in Chrome's Trace Event format.

Made anew from numbers: nothing that a player wrote goes into it as it is.
"""

from __future__ import annotations

from typing import Any

from grader.domain.gpu_card import Card
from grader.profiling.profile.kernel_rows import floor, shape
from grader.profiling.profile.launch_rows import Launch

FROM_COUNTS = "floors for {}, from counts: one launch after another, not measured"


def floors(launches: list[Launch], card: Card) -> dict[str, Any]:
    """Each launch as long as the card needs at least; ``ts`` and ``dur`` in microseconds."""
    events, at = _names(FROM_COUNTS.format(card.name), "device"), 0.0
    for x in launches:
        takes = 1e6 * floor(x.read + x.written, x.flops, card)
        facts = _facts(x) | {
            "read bytes": x.read, "written bytes": x.written, "operations": x.flops,
            "sectors of loads": x.load[1], "requests of loads": x.load[0],
            "sectors of stores": x.store[1], "requests of stores": x.store[0],
            "what the duration is": f"a floor for {card.name}, not a measurement",
        }  # fmt: skip
        events.append(_event(x, at, takes, facts))
        at += takes
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def times(launches: list[Launch], device: str) -> dict[str, Any]:
    """Each launch when and as long as torch.profiler saw it on the device."""
    begin = min((x.began for x in launches), default=0.0)
    events = _names(device, "kernels, by torch.profiler")
    events += [_event(x, 1e6 * (x.began - begin), 1e6 * x.seconds, _facts(x)) for x in launches]
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _names(process: str, thread: str) -> list[dict[str, Any]]:
    def name(kind: str, text: str) -> dict[str, Any]:
        return {"name": kind, "ph": "M", "pid": 1, "tid": 1, "ts": 0, "args": {"name": text}}

    return [name("process_name", process), name("thread_name", thread)]


def _event(x: Launch, at: float, takes: float, facts: dict[str, Any]) -> dict[str, Any]:
    event: dict[str, Any] = {"name": x.kernel, "cat": "kernel", "ph": "X", "pid": 1, "tid": 1}
    return event | {"ts": at, "dur": takes, "args": facts}


def _facts(x: Launch) -> dict[str, Any]:
    return {"grid": shape(x.grid), "block": shape(x.block)}
