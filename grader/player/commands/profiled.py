"""Repeat the last call under torch.profiler and answer the kernels that a GPU ran, with their times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from grader.player import observe
from grader.protocol.messages import Timed, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.player.commands import Callback
    from grader.player.stage import Stage
    from grader.protocol.wire import Json

MOST = 2000


def perform(stage: Stage, _callback: Callback, calls: int) -> Json:
    """A :class:`~grader.protocol.messages.Timed` of ``calls`` calls."""

    def again() -> None:
        with torch.no_grad():
            for _ in range(calls):
                stage.again()
        torch.cuda.synchronize()

    return plain(watched(again))


def watched(run: Callable[[], None]) -> Timed:
    """The kernels of ``run``, in order of time."""
    with observe.recording() as seen:
        run()
    return Timed(tuple(observe.kernels(observe.trace(seen))[:MOST]))
