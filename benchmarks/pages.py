"""The measured numbers of the lessons' pages, all in one run on one GPU. Needs nvcc, ncu and Triton.

    python3 benchmarks/pages.py [benchmarks/results/pages.json]

Calls of one group take turns, forwards and backwards, each with a cold L2 cache and a device kept busy until
the host has queued everything; kept are median, p10 and p90 by CUDA events, less what an empty pair of events
reads. Errors are relative, in the Frobenius norm, against float64. Models and inputs are the references'.
``tools/measured.py`` makes the pages' tables of this; it holds no number of its own.
"""

from __future__ import annotations

import csv
import io
import json
import os
import runpy
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from pages_kernels import DECLARED, NAMES, SOURCE, triton_product
from torch.utils.cpp_extension import include_paths, load_inline

ROWS, INNER, COLS = 1024, 8192, 8192
ROUNDS, PROCESSES = 100, 6
AHEAD = 1_000_000  # cycles, half a millisecond and more: what the slowest host needs to queue its call
COUNTED = {
    "time": "gpu__time_duration.sum",
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "stored requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "stored sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
}
Call = Callable[[], Any]


def kernels() -> Any:
    return load_inline("pages_kernels", DECLARED, SOURCE, functions=list(NAMES))


def once(call: Call, flush: torch.Tensor) -> float:
    """Microseconds of one call by events, after the L2 cache was overwritten."""
    torch.cuda._sleep(AHEAD)
    flush.zero_()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return 1e3 * start.elapsed_time(end)


def in_turns(calls: Mapping[str, Call], rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    calls = {**calls, "nothing": lambda: None}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(3):
            call()
    for turn in range(rounds):
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            times[name].append(once(calls[name], flush))
    nothing = statistics.median(times["nothing"])
    found = {}
    for name, all_of in times.items():
        cut = [t - (nothing if name != "nothing" else 0) for t in sorted(all_of)]
        tenth = len(cut) // 10
        found[name] = {
            "median_us": round(statistics.median(cut), 2),
            "p10_us": round(cut[tenth], 2),
            "p90_us": round(cut[-1 - tenth], 2),
            "n": rounds,
        }
    return found


def error(own: torch.Tensor, exact: torch.Tensor) -> float:
    return float((own.double() - exact).norm() / exact.norm())


def elementwise(k: Any) -> dict[str, Any]:
    x, bias = torch.randn(ROWS, COLS, device="cuda"), torch.randn(COLS, device="cuda")
    out = torch.empty_like(x)
    return {
        "elementwise-07": in_turns(
            {
                "eager": lambda: torch.relu(x + bias),
                "naive": lambda: k.bias_relu(x, bias, out),
                "vector": lambda: k.bias_relu4(x, bias, out),
                "copy": lambda: out.copy_(x),
            }
        ),
        "elementwise-08": in_turns(
            {
                "eager": lambda: torch.sigmoid(x) * 2.0 + x,
                "naive": lambda: k.sigmoid_residual(x, out, 2.0),
                "vector": lambda: k.sigmoid_residual4(x, out, 2.0),
                "copy": lambda: out.copy_(x),
            }
        ),
    }


def reference(number: str) -> tuple[torch.nn.Module, torch.Tensor]:
    """The model of a lesson's reference.py with its own weights, and its own input."""
    path = next((Path(__file__).parents[1] / "lessons").glob(f"{number}_*")) / "reference.py"
    found = runpy.run_path(str(path))
    return found["Model"](*found["get_init_inputs"]()).cuda(), found["get_inputs"]()[0].cuda()


@torch.no_grad()
def models(k: Any) -> tuple[dict[str, Any], dict[str, float]]:
    eager7, x = reference("07")
    eager8, x8 = reference("08")
    w, bias, linear8 = eager7.gemm.weight, eager7.bias, eager8.gemm
    compiled7, compiled8 = torch.compile(eager7), torch.compile(eager8)

    def vector7() -> torch.Tensor:
        y = eager7.gemm(x)
        return k.bias_relu4(y, bias, y)

    def vector8() -> torch.Tensor:
        y = linear8(x8)
        return k.sigmoid_residual4(y, y, 2.0)

    def naive7() -> torch.Tensor:
        y = eager7.gemm(x)
        return k.bias_relu(y, bias, torch.empty_like(y))

    ladder: dict[str, Call] = {
        "tf32x3": lambda: triton_product(x, w, bias, "tf32x3", (128, 64, 32, 3, 4)),
        "tf32x3, better tile": lambda: triton_product(x, w, bias, "tf32x3", (128, 128, 64, 3, 8)),
        "split": lambda: triton_product(x, w, bias, "split", (128, 128, 64, 3, 8)),
    }
    h, v = x.half(), w.half()
    times = {
        "model-07": in_turns(
            {
                "eager": lambda: eager7(x),
                "naive": naive7,
                "vector": vector7,
                "library": lambda: torch._addmm_activation(bias, x, w.t()),
                "compile": lambda: compiled7(x),
            }
        ),
        "model-08": in_turns(
            {"eager": lambda: eager8(x8), "vector": vector8, "compile": lambda: compiled8(x8)}
        ),
        "model-13": in_turns({"eager": lambda: eager7(x), **ladder}, rounds=40),
        "product": in_turns({"float32": lambda: x @ w.t(), "half": lambda: h @ v.t()}, rounds=40),
    }
    product = x.double() @ w.double().t()
    exact = torch.relu(product + bias.double())
    errors = {name: error(call(), exact) for name, call in ladder.items()}
    errors["eager"] = error(eager7(x), exact)
    errors["float32 product"] = error(x @ w.t(), product)
    low = [((a - b.float()) * 2048).half() for a, b in ((x, h), (w, v))]
    cross = sum(torch.mm(a, b.t(), out_dtype=torch.float32) for a, b in ((h, low[1]), (low[0], v)))
    halves = torch.mm(h, v.t(), out_dtype=torch.float32) + cross / 2048
    errors["three long half products"] = error(halves, product)
    torch.backends.cuda.matmul.allow_tf32 = True
    times["tf32"] = in_turns({"eager": lambda: eager7(x)}, rounds=40)
    errors["tf32"] = error(eager7(x), exact)
    torch.backends.cuda.matmul.allow_tf32 = False
    return times, errors


def clocks() -> dict[str, float]:
    """One kernel's time by an event pair a call, by events around the loop and by the wall; a large copy."""
    xs = [torch.randn(ROWS, COLS, device="cuda") for _ in range(50)]
    bias = torch.randn(COLS, device="cuda")
    for x in xs:
        torch.relu(x + bias)
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2 * len(xs))]
    for i, x in enumerate(xs):
        marks[2 * i].record()
        torch.relu(x + bias)
        marks[2 * i + 1].record()
    torch.cuda.synchronize()
    each = [1e3 * marks[2 * i].elapsed_time(marks[2 * i + 1]) for i in range(len(xs))]
    begun = time.perf_counter()
    marks[0].record()
    for x in xs:
        torch.relu(x + bias)
    marks[1].record()
    torch.cuda.synchronize()
    wall = time.perf_counter() - begun
    large = torch.empty(1 << 30, device="cuda"), torch.empty(1 << 30, device="cuda")
    copy = in_turns({"copy": lambda: large[1].copy_(large[0])}, rounds=10)["copy"]["median_us"]
    return {
        "single_us": statistics.median(each),
        "all_us": 1e3 * marks[0].elapsed_time(marks[1]) / len(xs),
        "wall_us": 1e6 * wall / len(xs),
        "large_copy_bytes_per_second": 2 * 4 * (1 << 30) / (copy * 1e-6),
    }


def ratio(k: Any) -> float:
    """What `--ratio` prints: eager against float4 in this process."""
    times = elementwise(k)["elementwise-07"]
    return times["eager"]["median_us"] / times["vector"]["median_us"]


def spread() -> dict[str, Any]:
    """The same ratio in fresh processes; its coefficient of variation."""
    command = [sys.executable, __file__, "--ratio"]
    run = [float(subprocess.check_output(command, text=True).split()[-1]) for _ in range(PROCESSES)]
    return {"ratios": run, "variation": statistics.stdev(run) / statistics.mean(run)}


def counters() -> dict[str, dict[str, float]]:
    """ncu's counters and times of lesson 09's kernels at 1024 x 1024, the last of three launches each."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--metrics", ",".join(COUNTED.values()), "--kernel-name", "regex:nine_"]
    text = subprocess.check_output([*command, sys.executable, __file__, "--counters"], text=True)
    lines = text[text.index('"ID"') :]
    found = {}
    for row in csv.DictReader(io.StringIO(lines)):
        if row["Kernel Name"]:
            values = {name: float(row[metric].replace(",", "")) for name, metric in COUNTED.items()}
            found[row["Kernel Name"].split("(")[0].removeprefix("nine_")] = values
    return found


def compile_seconds() -> dict[str, float]:
    """Lesson 01's C++ extension as PyTorch builds it, and its compiler alone on two header files."""
    with tempfile.TemporaryDirectory() as folder:
        source = 'std::string hello_world() { return "Hello World!"; }'
        begun = time.perf_counter()
        load_inline("pages_hello", source, functions=["hello_world"], build_directory=folder)
        found = {"load_inline": time.perf_counter() - begun}
    headers = ("torch/extension.h", "torch/csrc/utils/pybind.h")
    flags = [f"-I{p}" for p in include_paths("cuda")] + ["-isystem", _python_headers()]
    for header in headers:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "a.cpp")
            file.write_text(f"#include <{header}>\nint main() {{}}\n")
            begun = time.perf_counter()
            command = ["g++", "-std=c++20", "-fPIC", *flags, "-c", str(file), "-o", f"{file}.o"]
            subprocess.check_call(command)
            found[header] = time.perf_counter() - begun
    return {name: round(seconds, 1) for name, seconds in found.items()}


def _python_headers() -> str:
    return sysconfig.get_paths()["include"]


def facts() -> dict[str, Any]:
    smi = ["nvidia-smi", "--query-gpu=driver_version,clocks.sm,temperature.gpu", "--format=csv,noheader"]
    return {
        "device": torch.cuda.get_device_name(),
        "driver, SM clock, temperature": subprocess.check_output(smi, text=True).strip(),
        "torch": torch.__version__,
        "cpus": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        "command": "python3 benchmarks/pages.py",
        "shape": [ROWS, INNER, COLS],
        "dtype": "float32, TF32 off unless a row says otherwise",
    }


def main(target: Path) -> None:
    k = kernels()
    result: dict[str, Any] = {"how": facts(), "times": elementwise(k)}
    result["clocks"] = clocks()
    times, result["errors"] = models(k)
    result["times"] |= times
    torch.cuda.empty_cache()
    result["processes"] = spread()
    if shutil.which("ncu"):
        result["counters"] = counters()
    result["compile_seconds"] = compile_seconds()
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    torch.manual_seed(0)
    if "--ratio" in sys.argv:
        print(ratio(kernels()))
    elif "--counters" in sys.argv:
        kernels().lesson_nine(torch.randn(1024, 1024, device="cuda"), torch.empty(1024, 1024, device="cuda"))
        torch.cuda.synchronize()
    else:
        main(Path(sys.argv[1] if sys.argv[1:] else "benchmarks/results/pages.json"))
