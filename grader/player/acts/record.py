"""Have the submission profile a small model, and hand over the trace that it wrote: text, read as a claim."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from grader.player.acts import Line
    from grader.player.stage import Stage

MOST_EVENTS = 4000
FACTS = ("Input Dims", "correlation", "External id", "grid", "block", "stream")


def perform(
    stage: Stage, line: Line, entry: str, rows: int, inner: int, cols: int, steps: int, gpu: bool
) -> dict[str, Any]:
    """Call ``entry(model, batch, steps, path)``; ``{"events": [...], "calls": how often the model ran}``."""
    calls = 0
    model = torch.nn.Sequential(torch.nn.Linear(inner, cols), torch.nn.ReLU()).to(stage.device)

    def counted(*_: object) -> None:
        nonlocal calls
        calls += 1

    model.register_forward_hook(counted)
    batch = torch.randn(rows, inner, device=stage.device)
    path = Path.cwd() / "trace.json"
    with _host_only(gpu):
        stage.entry(entry)(model, batch, steps, str(path))
    if not path.exists():
        return {"events": None, "calls": calls}
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    listed = trace["traceEvents"] if isinstance(trace, dict) else trace
    events = [e for e in listed if isinstance(e, dict) and e.get("ph") == "X"][:MOST_EVENTS]
    return {"events": [_short(e) for e in events], "calls": calls}


@contextlib.contextmanager
def _host_only(gpu: bool) -> Iterator[None]:
    """Without a GPU a profiler that is asked for its events would complain at length; it is not asked."""
    kind, init = torch.profiler.profiler._KinetoProfile, torch.profiler.profiler._KinetoProfile.__init__

    def begin(self: Any, *args: Any, activities: Any = None, **more: Any) -> None:
        wanted = {a for a in activities or () if a is not torch.profiler.ProfilerActivity.CUDA}
        init(self, *args, activities=wanted or {torch.profiler.ProfilerActivity.CPU}, **more)

    if not gpu:
        kind.__init__ = begin  # type: ignore[method-assign]
    try:
        yield
    finally:
        kind.__init__ = init  # type: ignore[method-assign]


def _short(event: dict[str, Any]) -> dict[str, Any]:
    kept = {k: event.get(k) for k in ("ph", "name", "cat", "ts", "dur")}
    args = event.get("args")
    return kept | {"args": {k: args[k] for k in FACTS if k in args} if isinstance(args, dict) else {}}
