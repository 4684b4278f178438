"""The process that makes the call and watches: ``python -m grader.profile.observe BACKEND CALL.PY OUT``.

On the CPU back end the kernels are counted at the small size; on a GPU torch.profiler times the full one.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

CALLS = 5


def counted(call: Path) -> list[dict[str, Any]]:
    """The launches of one small call on the CPU back end, with their counts."""
    from grader.run.script import _build
    from grader.simt import device

    runtime = device.activate(_build, last_words_fd=2, step_budget=2_000_000_000)
    import torch

    with torch.no_grad():
        make = runpy.run_path(str(call))["make"](small=True)
        torch.cuda.synchronize()
        runtime.launches()
        runtime.count(True)
        make()
        torch.cuda.synchronize()
    return runtime.launches()


def measured(call: Path, trace: Path) -> list[dict[str, Any]]:
    """The kernels of a few full-size calls on a GPU, as torch.profiler timed them; the trace is kept."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with torch.no_grad():
        make = runpy.run_path(str(call))["make"](small=False)
        for _ in range(3):
            make()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            for _ in range(CALLS):
                make()
            torch.cuda.synchronize()
    seen.export_chrome_trace(str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    return [
        {"kernel": e["name"], "grid": e["args"].get("grid"), "block": e["args"].get("block"),
         "seconds": float(e["dur"]) / 1e6}
        for e in events
        if e.get("cat") == "kernel"
    ]  # fmt: skip


def main(backend: str, call: Path, out: Path) -> int:
    """Write what was seen as JSON."""
    seen: dict[str, Any] = {"backend": backend}
    if backend == "simt":
        seen["launches"] = counted(call)
    else:
        import torch

        seen["launches"] = measured(call, out.with_name("trace.json"))
        seen["device"] = torch.cuda.get_device_name()
        seen["calls"] = CALLS
    out.write_text(json.dumps(seen))
    return 0


if __name__ == "__main__":
    from grader.run import words

    path = Path(sys.argv[2])
    try:
        code = main(sys.argv[1], path, Path(sys.argv[3]))
    except Exception as error:
        own = Path(sys.argv[4]).parent
        print(words.trouble(error, own, lambda file: Path(file).name), file=sys.stderr)
        code = 1
    sys.exit(code)
