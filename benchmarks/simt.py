"""How fast the CPU back end is: whole table, with targets.

    python benchmarks/simt.py [--runs 7] [--first] [--json benchmarks/results/simt.json]

Kernels: least and median of the wall times of single calls (result allocated, synchronised), and the least
time that the cores worked for one. On a shared machine the wall times say more about the neighbours: the
load before and after is part of the result. ``--first`` also measures a first use, from an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "benchmarks" / "programs" / "speed.py"
TARGETS = {
    ("fast", "square 4096x4096"): 0.060,
    ("fast", "bias-ReLU 1024x8192"): 0.035,
    ("fast", "tiled matmul 512"): 0.140,
    ("checked", "square 4096x4096"): 0.700,
    ("checked", "bias-ReLU 1024x8192"): 0.400,
    ("checked", "tiled matmul 512"): 2.5,
}
EDITED = """
import sys, time
sys.path.insert(0, {root!r})
from grader.backends.simt.compile import compiler as builder
texts = [open({kernel!r}).read() + f"\\n// {{k}} {{time.time_ns()}}" for k in range({runs})]
out = []
for text in texts:
    request = builder.BuildRequest("edited", (), (text,), None)
    out.append([builder.build(request).seconds, builder.build(request).seconds])
print(out)
"""
KERNEL = """#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void square(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    square<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""


def kernels(runs: int) -> dict[str, dict[str, list[list[float]]]]:
    """(wall, work) seconds of each call, by build and kernel."""
    found = {}
    for build, options in (("fast", ["--fast"]), ("checked", [])):
        command = [sys.executable, "-m", "grader.backends.simt", *options, str(PROGRAM), str(runs)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found[build] = json.loads(done.stdout.splitlines()[-1])
    return found


def builds(runs: int) -> tuple[list[float], list[float]]:
    """Seconds to compile and link an edited kernel in a process that is warm, and to find it again."""
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(KERNEL)
        file.flush()
        code = EDITED.format(root=str(ROOT), kernel=file.name, runs=runs)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pairs = json.loads(done.stdout.replace("'", '"'))
    return [a for a, _ in pairs], [b for _, b in pairs]


def first_use() -> dict[str, float]:
    """Seconds of the one-time set-up from an empty cache, and the bytes that it leaves there."""
    with tempfile.TemporaryDirectory() as cache:
        code = "from grader.backends.simt.compile import compiler; print(compiler.prepare())"
        env = os.environ | {"COURSE_CACHE": cache}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
        )
        size = sum(p.stat().st_size for p in Path(cache).rglob("*") if p.is_file())
        return {"seconds": float(done.stdout), "megabytes": size / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from grader.backends.simt.compile import compiler as builder
    from grader.backends.simt.compile import toolchain

    builder.prepare(lambda text: print(text, file=sys.stderr))
    record: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/simt.py", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"compiler": toolchain.compiler().version, "torch": version("torch")},
        "load": [os.getloadavg()[0]],
    }
    print(f"{'':8} {'kernel':22} {'least':>9} {'median':>9} {'work':>9} {'target':>9}")
    record["kernels"] = []
    for build, cases in kernels(options.runs).items():
        for name, pairs in cases.items():
            walls, works = [p[0] for p in pairs], [p[1] for p in pairs]
            row = {
                "build": build, "kernel": name, "least": min(walls), "median": statistics.median(walls),
                "work": min(works), "target": TARGETS[build, name],
            }  # fmt: skip
            record["kernels"].append(row)
            cells = "".join(f" {row[key] * 1e3:6.0f} ms" for key in ("least", "median", "work", "target"))
            print(f"{build:8} {name:22}{cells}")
    edited, unchanged = builds(options.runs)
    record["builds"] = {"edited kernel": edited, "unchanged": unchanged}
    for name, seconds in record["builds"].items():
        print(f"build    {name:22} {min(seconds):6.2f} s  {statistics.median(seconds):6.2f} s")
    if options.first:
        record["first use"] = first_use()
        print(f"first use {record['first use']['seconds']:.0f} s, {record['first use']['megabytes']:.0f} MB")
    record["load"].append(os.getloadavg()[0])
    print(f"load average before and after: {record['load'][0]:.1f}, {record['load'][1]:.1f}")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
