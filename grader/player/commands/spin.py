"""Keep the GPU busy for a number of its cycles, by itself or as what the submission's timer is to time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from grader.player.commands.plain import Said, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.player.commands import Callback
    from grader.player.stage import Stage


def perform(stage: Stage, _callback: Callback, entry: str, cycles: int) -> Said:
    """``{"value": ...}`` that ``entry(fn)`` returns for a spinning fn; without ``entry`` it spins once."""
    spin: Callable[[int], None] = torch.cuda._sleep
    if entry:
        return {"value": plain(stage.entry(entry)(lambda: spin(cycles)))}
    if cycles:
        spin(cycles)
    torch.cuda.synchronize()
    return {"value": None}
