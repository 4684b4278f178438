"""Times of the solutions of lessons 12 and 13 against the library's ways, in turns. Needs a GPU.

python3 benchmarks/gemm_epilogue.py OUT.json
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
ROWS, INNER, COLS, ROUNDS = 1024, 8192, 8192, 12


def solution(name: str) -> Any:
    path = next((ROOT / "solutions").glob(f"{name}_*")) / "solution.py"
    spec = importlib.util.spec_from_file_location(f"solution_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(call: Callable[[], torch.Tensor]) -> float:
    flush.zero_()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e-3


torch.manual_seed(0)
x, w = torch.randn(ROWS, INNER, device="cuda"), torch.randn(COLS, INNER, device="cuda") / INNER**0.5
bias, residual = torch.randn(COLS, device="cuda"), torch.randn(ROWS, COLS, device="cuda")
flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
tiled, split = solution("12").gemm_epilogue, solution("13").gemm_relu
linear = torch.nn.functional.linear
CALLS = {
    "eager relu(linear)": lambda: torch.relu(linear(x, w, bias)),
    "eager relu(linear) + residual": lambda: torch.relu(linear(x, w, bias)) + residual,
    "addmm_activation": lambda: torch._addmm_activation(bias, x, w.t()),
    "addmm_activation + residual": lambda: torch._addmm_activation(bias, x, w.t()).add_(residual),
    "lesson 12": lambda: tiled(x, w, bias, residual),
    "lesson 13": lambda: split(x, w, bias),
}
exact = torch.relu(linear(x.double(), w.double(), bias.double()))
times = {name: [] for name in CALLS}
for call in CALLS.values():
    call()
names = list(CALLS)
for turn in range(ROUNDS):
    for name in names if turn % 2 else names[::-1]:
        times[name].append(seconds(CALLS[name]))
found = {}
for name, call in CALLS.items():
    right = exact + residual.double() if "12" in name or "residual" in name else exact
    cut = quantiles(times[name], n=10)
    found[name] = {
        "microseconds": {"median": median(times[name]) * 1e6, "p10": cut[0] * 1e6, "p90": cut[-1] * 1e6},
        "n": ROUNDS,
        "relative_error": float((call().double() - right).norm() / right.norm()),
    }
facts = {
    "command": "python benchmarks/gemm_epilogue.py OUT.json",
    "device": torch.cuda.get_device_name(),
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
}
facts |= {"shape": [ROWS, INNER, COLS], "dtype": "float32", "tf32": torch.backends.cuda.matmul.allow_tf32}
Path(sys.argv[1]).write_text(json.dumps(facts | {"calls": found}, indent=2) + "\n")
print(json.dumps(found, indent=2))
