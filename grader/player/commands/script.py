"""Run a file as ``python FILE`` would; on a GPU under torch.profiler, for the kernels that it launches."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.player.commands import profiled
from grader.protocol.messages import plain

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage
    from grader.protocol.wire import Json


def perform(stage: Stage, _callback: Callback, path: str) -> Json:
    """``{"launches": what a GPU ran}``; on the CPU back end launches come with every answer anyway."""
    stage.path = path
    sys.argv = [path]
    sys.path.append(str(Path(path).parent))  # last, so that no file beside it shadows a library

    def run() -> None:
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raise RuntimeError(f"the script ended with exit code {end.code}") from None
        stage.synchronize()

    if stage.gpu:
        return plain(profiled.watched(run))
    run()
    return {}
