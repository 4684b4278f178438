"""Repeat the last call under torch.profiler and answer the kernels that a GPU ran, with their times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from grader.player import observe

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage

MOST = 2000


def perform(stage: Stage, callback: Callback, calls: int) -> dict[str, Any]:
    """``{"launches": [{"kernel", "grid", "block", "began", "seconds"}, ...]}`` of ``calls`` calls."""

    def again() -> None:
        with torch.no_grad():
            for _ in range(calls):
                stage.again()
        torch.cuda.synchronize()

    return {"launches": watched(again)}


def watched(run: Callable[[], None]) -> list[dict[str, Any]]:
    """The kernels of ``run``, in order of time."""
    with observe.recording() as seen:
        run()
    return kernels(observe.trace(seen))


def kernels(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The kernels among the events of a Chrome trace, whose times are in microseconds."""
    found = [e for e in events if e.get("cat") == "kernel" and e.get("ph") == "X"]
    found.sort(key=lambda e: float(e["ts"]))
    return [
        {
            "kernel": e["name"],
            "grid": e.get("args", {}).get("grid"),
            "block": e.get("args", {}).get("block"),
            "began": (float(e["ts"]) - float(found[0]["ts"])) / 1e6,
            "seconds": float(e["dur"]) / 1e6,
        }
        for e in found[:MOST]
    ]
