"""Which torch operators a call uses, on either back end, and on a GPU which kernels it launches."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.autograd.profiler import profile
from torch.autograd.profiler_legacy import profile as operators

MOST = 200


@contextlib.contextmanager
def watching(gpu: bool, seen: dict[str, Any], wanted: bool = True) -> Iterator[None]:
    """Fill ``seen`` with ``ops``, a list of [name, shapes of its tensors], and on a GPU with ``kernels``.

    Operators are seen whether Python or C++ calls them.
    """
    if not wanted:
        yield
        return
    if not gpu:
        with operators(record_shapes=True) as ran:  # type: ignore[no-untyped-call]
            yield
        seen["ops"] = _ops(ran)
        return
    with recording(shapes=True) as ran:
        yield
        torch.cuda.synchronize()
    seen["ops"] = _ops(ran.function_events)
    seen["kernels"] = [e["name"][:500] for e in trace(ran) if e.get("cat") == "kernel"][:MOST]


def recording(*, shapes: bool = False) -> Any:
    """A run of torch's profiler that sees operators and a GPU's kernels.

    Not ``torch.profiler.profile``: that imports torch's compiler when it first starts, 899 modules, which
    was 2.2 seconds of a first recording (torch 2.13 on a CPU).
    """
    return profile(use_device="cuda", use_kineto=True, record_shapes=shapes)


def trace(ran: Any) -> list[dict[str, Any]]:
    """The events of such a run, as in a Chrome trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        ran.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    return events if isinstance(events, list) else []


def _ops(ran: Any) -> list[list[Any]]:
    events = ran.function_events if hasattr(ran, "function_events") else ran
    ops: list[list[Any]] = []
    for event in events or []:
        shapes = [list(s) for s in event.input_shapes or [] if s]
        if event.name.startswith("aten::") and shapes:
            ops.append([event.name, shapes])
    return ops[:MOST]
