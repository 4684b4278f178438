"""Record the trace that lesson 05 asks about: lesson 07's model, eager and fused, on a GPU.

python3 benchmarks/record_trace.py OUT.json.gz        (needs an NVIDIA GPU and nvcc; about a minute)
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
ROWS, INNER, COLS = 1024, 8192, 8192
STEPS = 4
KINDS = {"cpu_op", "kernel", "cuda_runtime", "cuda_driver", "gpu_memcpy", "gpu_memset", "user_annotation"}
FACTS = {
    "External id", "correlation", "stream", "device", "grid", "block", "registers per thread", "bytes",
    "shared memory", "est. achieved occupancy %", "Input Dims", "Input type",
}  # fmt: skip


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def record(folder: Path) -> dict:
    """The profiler's own Chrome trace of ``STEPS`` steps, each with a copy to the GPU and both models."""
    lesson = "07_fused_bias_relu"
    eager = module(ROOT / "lessons" / lesson / "reference.py").Model(INNER, COLS, (COLS,)).cuda().eval()
    fused = module(ROOT / "solutions" / lesson / "solution.py").ModelNew(INNER, COLS, (COLS,)).cuda().eval()
    fused.load_state_dict(eager.state_dict())
    batch = torch.randn(ROWS, INNER).pin_memory()
    path = folder / "trace.json"
    with (
        torch.no_grad(),
        profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
            schedule=schedule(wait=1, warmup=2, active=STEPS),
            record_shapes=True,
            on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
        ) as profiler,
    ):
        for _ in range(3 + STEPS):
            with record_function("load batch"):
                x = batch.to("cuda", non_blocking=True)
            with record_function("eager model"):
                a = eager(x)
            with record_function("fused model"):
                b = fused(x)
            with record_function("compare"):
                worst = (a - b).abs().max().item()
            profiler.step()
    print("largest difference", worst)
    return json.loads(path.read_text())


def trimmed(trace: dict) -> dict:
    """Only what the questions need: complete events of the kinds above, times from zero, in microseconds."""
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X" and e.get("cat") in KINDS]
    zero = min(e["ts"] for e in events)
    kept = [
        {k: e[k] for k in ("name", "cat", "pid", "tid")}
        | {"ph": "X", "ts": round(e["ts"] - zero, 3), "dur": round(e["dur"], 3)}
        | {"args": {k: v for k, v in e.get("args", {}).items() if k in FACTS}}
        for e in events
    ]
    device = {
        k: v for k, v in trace["deviceProperties"][0].items() if k in ("name", "numSms", "totalGlobalMem")
    }
    facts = {"torch": torch.__version__, "rows": ROWS, "inner": INNER, "cols": COLS, "steps": STEPS}
    return {
        "deviceProperties": [device],
        "recorded": facts,
        "traceEvents": sorted(kept, key=lambda e: e["ts"]),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps(trimmed(record(Path(folder))), separators=(",", ":"))
    with Path(sys.argv[1]).open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())
    print(len(text), "characters,", Path(sys.argv[1]).stat().st_size, "bytes packed")


if __name__ == "__main__":
    main()
