"""Runs every case of a program and writes what the runtime said about it. Not a test itself."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

from grader.backends.extension.request import BuildRequest
from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.runtime.device import activate
from grader.protocol.messages import plain
from grader.protocol.process_exit import leave


def _build(request: BuildRequest) -> str:
    return str(builder.build(BuildRequest.from_json(json.loads(json.dumps(request.as_json())))).path)


def main(program: str, out: str) -> None:
    runtime = activate(_build, builder.libraries(), step_budget=3_000_000)
    import torch

    names = runpy.run_path(program, run_name="program")
    runtime.count(on=bool(names.get("COUNT")))
    answers: dict[str, object] = {}
    for name, case in names["cases"]().items():
        runtime.reset()
        result, error = None, ""
        try:
            result = case(runtime)
            torch.cuda.synchronize()
        except Exception as caught:
            error = f"{type(caught).__name__}: {caught}"
        answers[name] = {
            "error": error,
            "result": result if isinstance(result, int | float | str | dict | list | None) else None,
            "findings": [f.as_json() for f in runtime.findings()],
            "launches": [plain(x) for x in runtime.launches()],
        }
    Path(out).write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave(0)
