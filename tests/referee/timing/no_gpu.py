"""A player's process whose GPU is this computer: ``python no_gpu.py PYTHON -m grader.player ...``.

Events tell the processor's time, and nothing runs beside the host. It stands before the command of a real
player, so that all around it is real: the sandbox, the wire, the memory that is shared, the act.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

import torch


class Event:
    """A moment on the host's clock."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.at = 0.0

    def record(self, *_: Any) -> None:
        """Now."""
        self.at = time.perf_counter()

    def query(self) -> bool:
        """It has passed."""
        return True

    def elapsed_time(self, later: Event) -> float:
        """Milliseconds."""
        return 1e3 * (later.at - self.at)


def main() -> None:
    cuda: Any = torch.cuda
    cuda.Event, cuda.synchronize, cuda.empty_cache = Event, lambda *_: None, lambda: None
    cuda.Stream, cuda.stream = lambda: None, lambda _: contextlib.nullcontext()
    from grader.player import __main__
    from grader.player.commands import race_blocks

    act: Any = race_blocks
    act.elsewhere = list
    __main__.main(sys.argv[4:])


if __name__ == "__main__":
    main()
