"""Launches that predictions are fitted to and tested on: measured on a GPU, counted by simt.

    python benchmarks/predict.py measure OUT.json     on a GPU, with nvcc and torch: below two minutes
    python benchmarks/predict.py count OUT.json       on this CPU (g++ and binutils): a few minutes

Every launch of ``predict_kernels/launches.cuh`` is timed 25 times with a cold cache, between two CUDA events,
as the grader's clock does. Beside them stand operators of eager PyTorch and matrix products of the library.
What is made of it: ``benchmarks/predict_fit.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
HERE, KERNELS = ROOT / "benchmarks" / "predict_kernels", ROOT / "benchmarks" / "simt_kernels"
PARTS = ("memory", "shared", "atomic", "ladders", "rows", "shapes")
FLUSH, TIMES = 256 << 20, 25
KEPT = ("grid", "block", "shared_bytes", "static_shared_bytes", "kernel", "counts")


def measure(out: Path) -> None:
    """Compile with nvcc and time; then torch."""
    with tempfile.TemporaryDirectory() as folder:
        program, source = Path(folder) / "program", Path(folder) / "program.cu"
        includes = "".join(f'#include "{part}.cuh"\n' for part in PARTS)
        source.write_text(
            f'#include <cuda_runtime.h>\n#include "time_many.cuh"\n{includes}#include "launches.cuh"\n'
            "int main() { for (int k = 0; k < 4; ++k) times_of(500, [] {}); all_of_them(); }\n"
        )  # the clocks of an idle GPU are slow, and go up while it works
        command = ["nvcc", "-O3", "-std=c++17", "-arch=native", "-w", f"-I{HERE}", f"-I{KERNELS}"]
        subprocess.run([*command, str(source), "-o", str(program)], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-1000:]}{done.stderr[-1000:]}")
    launches = []
    for line in done.stdout.splitlines():
        if line.startswith("LAUNCH "):
            job, version, middle, low, high = line.removeprefix("LAUNCH ").split("|")
            seconds = {"median": float(middle), "p10": float(low), "p90": float(high)}
            launches.append({"job": job, "version": version, "us": seconds, "n": TIMES})
    import torch

    result = {
        "command": "python benchmarks/predict.py measure", "how": _how(), "torch": torch.__version__,
        "launches": launches, "operators": _operators(), "products": _products(),
    }  # fmt: skip
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{len(launches)} launches, {out}")


def _how() -> dict[str, str]:
    fields = "name,driver_version,clocks.sm,temperature.gpu"
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    gpu = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip().split(", ")
    release = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    names = ("gpu", "driver", "sm clock at the end", "celsius at the end")
    return dict(zip(names, gpu, strict=False)) | {"nvcc": release.splitlines()[-2].strip()}


def _operators() -> list[dict[str, Any]]:
    """Eager operators by the bytes that they read and write, over the sizes that a course meets."""
    import torch

    found = []
    for rows, columns in ((256, 1024), (1024, 1024), (1024, 8192), (4096, 8192)):
        x, y = (torch.randn(rows, columns, device="cuda") for _ in range(2))
        bias, size = torch.randn(columns, device="cuda"), 4 * rows * columns
        cases: dict[str, tuple[int, Callable[[], Any]]] = {
            "relu": (2 * size, lambda x=x: torch.relu(x)),  # type: ignore[misc]
            "sigmoid": (2 * size, lambda x=x: torch.sigmoid(x)),  # type: ignore[misc]
            "x * 2": (2 * size, lambda x=x: x * 2.0),  # type: ignore[misc]
            "x * x": (2 * size, lambda x=x: x * x),  # type: ignore[misc]
            "x + y": (3 * size, lambda x=x, y=y: x + y),  # type: ignore[misc]
            "x + bias": (2 * size + 4 * columns, lambda x=x, b=bias: x + b),  # type: ignore[misc]
            "clone": (2 * size, lambda x=x: x.clone()),  # type: ignore[misc]
            "transposed clone": (2 * size, lambda x=x: x.t().contiguous()),  # type: ignore[misc]
            "softmax": (2 * size, lambda x=x: torch.softmax(x, -1)),  # type: ignore[misc]
            "sum of rows": (size + 4 * rows, lambda x=x: x.sum(-1)),  # type: ignore[misc]
            "sum of columns": (size + 4 * columns, lambda x=x: x.sum(0)),  # type: ignore[misc]
        }
        for name, (nbytes, call) in cases.items():
            found.append({"op": name, "shape": [rows, columns], "bytes": nbytes, "us": _times(call)})
    return found


def _products() -> list[dict[str, Any]]:
    """The library's matrix products: m, n, k and dtype; "tf32" is float32 with TF32 allowed."""
    import torch

    shapes = [(256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096),
              (1024, 8192, 8192), (64, 8192, 8192), (8192, 8192, 512), (1000, 4000, 3000)]  # fmt: skip
    found = []
    for dtype in ("float32", "tf32", "float16", "bfloat16"):
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        kind = torch.float32 if dtype == "tf32" else getattr(torch, dtype)
        for m, n, k in shapes:
            a = torch.randn(m, k, device="cuda", dtype=kind)
            b = torch.randn(n, k, device="cuda", dtype=kind)
            times = _times(lambda a=a, b=b: torch.nn.functional.linear(a, b))  # type: ignore[misc]
            found.append({"dtype": dtype, "m": m, "n": n, "k": k, "us": times})
    torch.backends.cuda.matmul.allow_tf32 = False
    return found


_kept: list[Any] = []


def _times(call: Callable[[], Any]) -> dict[str, float]:
    """Microseconds of a call on a cold cache, less the time between two events with nothing in between."""
    import torch

    if not _kept:
        _kept.append(torch.empty(FLUSH, dtype=torch.uint8, device="cuda"))
        _kept.append(median(_between(lambda: None)))
    for _ in range(3):
        call()
    found = [t - _kept[1] for t in _between(call)]
    tenths = quantiles(found, n=10)
    return {"median": round(median(found), 3), "p10": round(tenths[0], 3), "p90": round(tenths[-1], 3)}


def _between(call: Callable[[], Any]) -> list[float]:
    import torch

    pairs = []
    for _ in range(TIMES):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        _kept[0].zero_()
        before.record()
        call()
        after.record()
        pairs.append((before, after))
    torch.cuda.synchronize()
    return [1e3 * b.elapsed_time(a) for b, a in pairs]


def count(out: Path) -> None:
    """Compile with the C++ compiler, count with simt; large launches by a sample of their blocks."""
    from benchmarks.ncu import what_it_prints
    from grader.backends.simt.compile import toolchain
    from grader.backends.simt.standalone import Counting, compile_program
    from grader.protocol.messages import plain
    from tools.result_facts import facts

    files = [HERE / "count_once.cuh", *(KERNELS / f"{part}.cuh" for part in PARTS), HERE / "launches.cuh"]
    texts = [(str(file), file.read_text().replace("#pragma once", "")) for file in files]
    exported = 'extern "C" __attribute__((visibility("default"))) void count() { all_of_them(); }\n'
    with tempfile.TemporaryDirectory() as folder:
        counting = Counting(compile_program([*texts, ("count.cu", exported)], Path(folder)))
        counting.sample_above(1 << 18)
        printed = what_it_prints(counting.functions.count)
        launched = counting.launches()
    labels = [x.removeprefix("LAUNCH ").split("|") for x in printed.splitlines() if x.startswith("LAUNCH ")]
    rows = [
        {"job": job, "version": version} | {key: value for key, value in plain(launch).items() if key in KEPT}
        for (job, version), launch in zip(labels, launched, strict=True)
    ]
    for row in rows:
        for line in row["counts"]["lines"]:
            line["file"] = Path(line["file"]).name
    how = facts("python benchmarks/predict.py count", compiler=toolchain.compiler().version)
    text = ",\n".join(json.dumps(row) for row in rows)
    out.write_text(f'{{"how": {json.dumps(how)},\n"launches": [\n{text}\n]}}\n')
    print(f"{len(rows)} launches, {out}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", target]:
            measure(Path(target))
        case ["count", target]:
            count(Path(target))
        case _:
            sys.exit(__doc__)
