"""Have the submission profile a model, and hand over the trace that it wrote: text, read as a claim."""

from __future__ import annotations

import contextlib
import gzip
import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.player.commands import Callback
    from grader.player.stage import Stage

MAX_EVENTS = 4000
OLD = b"what was recorded before"
FACTS = ("Input Dims", "correlation", "External id", "grid", "block", "stream")


class Event(TypedDict):
    """What is handed over of an event of a Chrome trace; each value is whatever the file holds."""

    ph: object
    name: object
    cat: object
    ts: object
    dur: object
    args: dict[str, object]


class Recorded(TypedDict, total=False):
    """The ``events`` that were written, None without a file, and the ``calls`` of the model.

    ``asked``: the activities that the profiler was given, None where it was left to PyTorch.
    ``returned``, alone: the types that stand in place of a model and a batch.
    ``layers`` is how many modules without modules in it ran, ``idle`` how many did not, ``batch`` the batch's
    shape. ``prepared`` and ``started``: after how many calls the profiler was first told to warm up, and to
    record. ``evaluates``: the model came in training mode and was left in that of evaluation.
    ``derived``: its parameters have gradients afterwards.
    """

    returned: list[str]
    layers: int
    idle: int
    batch: list[int]
    events: list[Event] | None
    calls: int
    asked: list[str] | None
    prepared: int
    started: int
    evaluates: bool
    derived: bool


def perform(
    stage: Stage, _callback: Callback, entry: str, steps: int, *, gpu: bool, own: str = "", **sizes: int
) -> Recorded:
    """Call ``entry(model, batch, steps, path)``.

    The model is what ``own()`` returns, or a small one of ``sizes`` rows, inner and cols.
    """
    calls = 0
    model, batch = stage.entry(own)() if own else _small(**sizes)
    if not isinstance(model, torch.nn.Module) or not isinstance(batch, torch.Tensor):
        return {"returned": [type(model).__name__, type(batch).__name__]}
    model, batch = model.to(stage.device), batch.to(stage.device)

    def counted(*_: object) -> None:
        nonlocal calls
        calls += 1

    model.register_forward_hook(counted)
    leaves = [m for m in model.modules() if not list(m.children())]
    ran: set[int] = set()
    for leaf in leaves:
        leaf.register_forward_hook(lambda module, *_: ran.add(id(module)))
    path = Path.cwd() / f"trace-{secrets.token_hex(4)}.json"  # a file that writes elsewhere shall not hit it
    path.write_bytes(OLD)  # what is left at the path is the new recording
    came, told = model.training, dict[str, int]()
    asked: list[list[str] | None] = [None]
    with _activities(asked, gpu=gpu), _noting(lambda what: told.setdefault(what, calls)):
        stage.entry(entry)(model, batch, steps, str(path))
    facts: Recorded = {
        "layers": len(ran),
        "idle": len(leaves) - len(ran),
        "batch": list(batch.shape),
        "evaluates": came and not model.training,
        "derived": any(p.grad is not None for p in model.parameters()),
        "calls": calls,
        "asked": asked[-1],
        "prepared": told.get("prepare_trace", 0),
        "started": told.get("start_trace", 0),
    }
    data = path.read_bytes() if path.exists() else OLD
    path.unlink(missing_ok=True)  # the next recording is another
    if data == OLD:
        return {**facts, "events": None}
    trace = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    listed = trace["traceEvents"] if isinstance(trace, dict) else trace
    events = [e for e in listed if isinstance(e, dict) and e.get("ph") == "X"][:MAX_EVENTS]
    return {**facts, "events": [_short(e) for e in events]}


def _small(rows: int, inner: int, cols: int) -> tuple[torch.nn.Module, torch.Tensor]:
    # In float64, so that a batch which was made float32 on the way does not fit.
    model = torch.nn.Sequential(torch.nn.Linear(inner, cols), torch.nn.ReLU()).double()
    return model, torch.randn(rows, inner, dtype=torch.float64)


@contextlib.contextmanager
def _noting(note: Callable[[str], object]) -> Iterator[None]:
    """Tells when a profiler is told to warm up, and when to record."""
    kind = torch.profiler.profiler._KinetoProfile
    usual = {name: getattr(kind, name) for name in ("prepare_trace", "start_trace")}
    for name, act in usual.items():

        def noted(self: Any, name: str = name, act: Any = act) -> None:
            note(name)
            act(self)

        setattr(kind, name, noted)
    try:
        yield
    finally:
        for name, act in usual.items():
            setattr(kind, name, act)


@contextlib.contextmanager
def _activities(asked: list[list[str] | None], *, gpu: bool) -> Iterator[None]:
    """Notes what a profiler is asked for.

    Without a GPU one that is asked for its events would complain at length; it is not asked.
    """
    kind, init = torch.profiler.profiler._KinetoProfile, torch.profiler.profiler._KinetoProfile.__init__

    def begin(self: Any, *args: Any, activities: Any = None, **more: Any) -> None:
        activities = list(activities or ())
        asked.append([str(a.name) for a in activities] or None)
        if not gpu:
            wanted = {a for a in activities if a is not torch.profiler.ProfilerActivity.CUDA}
            activities = list(wanted or {torch.profiler.ProfilerActivity.CPU})
        init(self, *args, activities=activities or None, **more)

    kind.__init__ = begin  # type: ignore[method-assign]
    try:
        yield
    finally:
        kind.__init__ = init  # type: ignore[method-assign]


def _short(event: dict[str, object]) -> Event:
    args = event.get("args")
    return {
        "ph": event.get("ph"),
        "name": event.get("name"),
        "cat": event.get("cat"),
        "ts": event.get("ts"),
        "dur": event.get("dur"),
        "args": {k: args[k] for k in FACTS if k in args} if isinstance(args, dict) else {},
    }
