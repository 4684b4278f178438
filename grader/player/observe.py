"""Which torch operators a call uses, on either back end, and on a GPU which kernels it launches."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch.autograd.profiler import profile
from torch.autograd.profiler_legacy import profile as operators

from grader.protocol.messages import Launch
from grader.protocol.play import Ops, Watched

MOST, MOST_NAME, MOST_SHAPES = 200, 500, 100
Event: TypeAlias = dict[str, Any]  # of the profiler's trace, as Chrome reads it


class Watcher(contextlib.AbstractContextManager["Watcher"]):
    """Within it torch's operators are seen, whether Python or C++ calls them, and on a GPU the kernels.

    ``seen``: what was, once it is left.
    """

    def __init__(self, *, gpu: bool) -> None:
        self.seen = Watched()
        self._gpu, self._before = gpu, _interpreted()
        # The legacy profiler alone sees operators without a GPU; it has no types.
        self._ran: Any = recording(shapes=True) if gpu else operators(record_shapes=True)  # type: ignore[no-untyped-call]

    def __enter__(self) -> Watcher:
        self._ran.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._gpu:
            torch.cuda.synchronize()
        self._ran.__exit__(*error)
        if error[0] is None:
            names = tuple(x.kernel for x in kernels(trace(self._ran))[:MOST]) if self._gpu else None
            self.seen = Watched(
                _ops(self._ran), kernels=names, interpreted=max(0, _interpreted() - self._before)
            )


def _interpreted() -> int:
    """How many kernels of Triton and numba have been interpreted so far; none if nobody has imported any."""
    arrays = sys.modules.get("grader.lesson_support.dialects.host_arrays")
    return int(arrays.RecordedCalls.begun) if arrays else 0


def recording(*, shapes: bool = False) -> Any:
    """A run of torch's profiler that sees operators and a GPU's kernels.

    Not ``torch.profiler.profile``: that imports torch's compiler when it first starts, 899 modules, which
    was 2.2 seconds of a first recording (torch 2.13 on a CPU).
    """
    return profile(use_device="cuda", use_kineto=True, record_shapes=shapes)


def trace(ran: Any) -> list[Event]:
    """The events of such a run, as in a Chrome trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        ran.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    return events if isinstance(events, list) else []


def kernels(events: list[Event]) -> list[Launch]:
    """The kernels among the events of a Chrome trace, whose times are in microseconds, in order of time."""
    found = _in_time(events)
    return [_launch(e, float(found[0]["ts"])) for e in found]


def beside_the_first(events: list[Event], first: str) -> list[str]:
    """The names of kernels on the stream of the first kernel, which is named ``first``; none if it is not."""
    found = _in_time(events)
    if not found or first not in str(found[0]["name"]):
        return []
    stream, *others = [event.get("args", {}).get("stream") for event in found]
    return [str(e["name"]) for e, other in zip(found[1:], others, strict=True) if other == stream]


def _in_time(events: list[Event]) -> list[Event]:
    found = [e for e in events if e.get("cat") == "kernel" and e.get("ph") == "X"]
    return sorted(found, key=lambda e: float(e["ts"]))


def _launch(event: Event, begin: float) -> Launch:
    grid, block = (tuple(event.get("args", {}).get(key) or ())[:3] for key in ("grid", "block"))
    began, seconds = (float(event["ts"]) - begin) / 1e6, float(event["dur"]) / 1e6
    return Launch(kernel=str(event["name"])[:MOST_NAME], grid=grid, block=block, seconds=seconds, began=began)


def _ops(ran: Any) -> Ops:
    events = ran.function_events if hasattr(ran, "function_events") else ran
    found = []
    for event in events or []:
        shapes = tuple(tuple(s) for s in event.input_shapes or [] if s)
        if event.name.startswith("aten::") and shapes:
            found.append((event.name[:MOST_NAME], shapes[:MOST_SHAPES]))
    if len(found) > MOST:  # the largest are kept: small ones in front hide none
        found.sort(key=lambda op: -max(math.prod(shape) for shape in op[1]))
    return tuple(found[:MOST])
