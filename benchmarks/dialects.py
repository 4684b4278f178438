"""One kernel in every dialect that is installed, in one race: bias and ReLU, float32, a NaN kept.

    python benchmarks/dialects.py --json benchmarks/results/dialects.json

The kernels are those of ``benchmarks/dialect_kernels`` and lesson 07's solution. Each is first called in a
process of its own with empty caches, all at the same time, and compared there with eager PyTorch; one that
cannot be imported or compiled, that dies, or whose results differ is noted with what it said, and the others
go on.

Then they take turns, in an order that is drawn anew in each of 60 rounds: each call is between two events,
after other memory was written, so that the L2 cache is cold, and is queued before the GPU comes to it.
``copy`` copies the matrix, which moves as many bytes except the bias. What a call costs the host is timed
apart, while the GPU has nothing to do. Helion searches in its quick way (``HELION_AUTOTUNE_EFFORT``).

Without a GPU it is tried at a small size in this process, and times nothing:

    python -m grader run benchmarks/dialects.py
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
# Not this folder, which Python puts there: it has a ``cutlass`` that is not the package.
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path).resolve() != ROOT / "benchmarks")]

import torch  # noqa: E402

from benchmarks.capstone import ON_GPU, module, raced, spread  # noqa: E402
from tools.result_facts import facts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

KERNELS = "benchmarks/dialect_kernels"
FILES = {
    "CUDA": "solutions/07_fused_bias_relu/solution.py",
    "Triton": f"{KERNELS}/in_triton.py",
    "Gluon": f"{KERNELS}/in_gluon.py",
    "Helion": f"{KERNELS}/in_helion.py",
    "cuTile": f"{KERNELS}/in_cutile.py",
    "CuTe DSL": f"{KERNELS}/in_cute.py",
    "TileLang": f"{KERNELS}/in_tilelang.py",
}
NAMES = ("eager", "torch.compile", *FILES)
PACKAGES = (
    "torch",
    "triton",
    "helion",
    "cuda-tile",
    "nvidia-cuda-tileiras",
    "nvidia-cutlass-dsl",
    "tilelang",
)
SIZES = ((4096, 4096), (8192, 8192)) if ON_GPU else ((33, 64),)
SECONDS, CALLS = (
    400,
    100,
)  # for a first call, Helion's search included; calls of which the host's time is taken
CACHES = (
    "TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "HELION_CACHE_DIR",
    "TILELANG_CACHE_DIR", "CUDA_TILE_CACHE_DIR", "CUTE_DSL_CACHE_DIR",
)  # fmt: skip


def eager(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + bias)


def called(name: str) -> Call:
    """The function of a dialect; it is imported, and may be compiled, only now."""
    if name == "eager":
        return eager
    if name == "torch.compile":
        compiled: Call = torch.compile(eager, dynamic=False)
        return compiled
    found: Call = module(ROOT / FILES[name], f"dialect_{NAMES.index(name)}").bias_relu
    return found


def drawn(rows: int, cols: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix with a NaN and both infinities, and a bias."""
    torch.manual_seed(rows + cols)
    x, bias = torch.randn(rows, cols, device="cuda"), torch.randn(cols, device="cuda")
    x[1, 3], x[2, 5], x[rows - 1, cols - 1] = float("nan"), float("inf"), -float("inf")
    return x, bias


def first(name: str) -> dict[str, Any]:
    """Seconds from the import to the first result, or why there is none that is right."""
    x, bias = drawn(*SIZES[0])
    began = time.perf_counter()
    try:
        call = called(name)
        call(x, bias)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
        for size in SIZES:
            x, bias = drawn(*size)
            wrong = ~torch.isclose(call(x, bias), eager(x, bias), rtol=0, atol=0, equal_nan=True)
            if wrong.any():
                return {"failed": f"{int(wrong.sum())} of {wrong.numel()} elements differ from eager's"}
    except (Exception, SystemExit) as error:  # of any library, of any kind
        said = re.sub(r" \(/[^)]*\)", "", str(error)).strip().splitlines() or [""]  # without a file's place
        return {"failed": f"{type(error).__name__}: {said[0]}"}
    return {"first_seconds": seconds}


def tried(name: str) -> dict[str, Any]:
    """The same in a process of its own, which may die."""
    if not ON_GPU:
        return first(name)
    command = [sys.executable, str(Path(__file__).resolve()), "--first", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"no result after {SECONDS} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        found: dict[str, Any] = json.loads(lines[-1])
        return found
    said = done.stderr.strip().splitlines() or [""]
    return {"failed": f"the process ended with {done.returncode}: {said[-1]}"}


def host_seconds(call: Callable[[], Any]) -> float:
    """What a call costs the host, the GPU idle: the median."""
    times = []
    for _ in range(CALLS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return median(times)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--first", choices=NAMES, help="only its first call, in this process")
    chosen = parser.parse_args()
    if chosen.first:
        print(json.dumps(first(chosen.first)))
        return
    device = torch.cuda.get_device_name() if ON_GPU else ""
    record: dict[str, Any] = facts("python benchmarks/dialects.py --json FILE", *PACKAGES, device=device)
    os.environ.setdefault("HELION_AUTOTUNE_EFFORT", "quick")
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {name: str(Path(folder, name)) for name in CACHES}
        with ThreadPoolExecutor(len(chosen.only) if ON_GPU else 1) as pool:
            record["dialects"] = dict(zip(chosen.only, pool.map(tried, chosen.only), strict=True))
        for name, said in record["dialects"].items():
            print(name, said, flush=True)
        right = [name for name, said in record["dialects"].items() if "failed" not in said]
        functions = {name: called(name) for name in right} if ON_GPU else {}
        record["rows"] = []
        for size in SIZES if ON_GPU else ():
            x, bias = drawn(*size)
            found = {name: partial(call, x, bias) for name, call in functions.items()}
            found["copy"] = partial(torch.empty_like(x).copy_, x)
            seconds = {name: spread(times) for name, times in raced(found, queued=True).items()}
            host = {name: host_seconds(call) for name, call in found.items()}
            record["rows"].append({"size": size, "seconds": seconds, "host_seconds": host})
            print(size, {name: f"{s['median'] * 1e6:.1f} us" for name, s in seconds.items()}, flush=True)
            print("host", {name: f"{s * 1e6:.1f} us" for name, s in host.items()}, flush=True)
            if chosen.json:
                chosen.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
