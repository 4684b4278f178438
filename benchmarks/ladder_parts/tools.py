"""NVIDIA's own tools on the CUDA rungs: compute-sanitizer and Nsight Compute."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.ladder_parts.files import HOME, ROOT

if TYPE_CHECKING:
    from pathlib import Path

SMALL = """
import sys
sys.path.insert(0, {home!r})
import torch, {rung} as r
torch.manual_seed(0)
for rows, inner, cols in ((300, 100, 260), (64, 64, 512), (33, 67, 35)):
    x, w = torch.randn(rows, inner, device="cuda"), torch.randn(cols, inner, device="cuda")
    b = torch.randn(cols, device="cuda")
    x[0, 0] = float("inf")
    if "{rung}" == "elementwise":
        wide = torch.randn(70 * 8192 + 1, device="cuda")
        wide = [w[s : s + 70 * 8192].view(70, 8192) for w in (wide, wide.half()) for s in (0, 1)]
        for a in (x, x.half(), x.view(-1)[1 : 1 + (rows - 1) * inner].view(rows - 1, inner), *wide):
            a = a.detach().requires_grad_()
            y = r.bias_relu(a, torch.ones(a.size(-1), device="cuda", dtype=a.dtype))
            y.backward(a.detach())
            r.sigmoid_residual(a, 2.0).sum().backward()
    else:
        r.gemm_relu(x, w, b), r.gemm_sigmoid(x, w, b, 2.0)
torch.cuda.synchronize()
"""


def part_sanitize(folder: Path) -> dict[str, Any]:
    """compute-sanitizer's four tools on each CUDA file, at small sizes: their last line."""
    runs = {}
    for rung in ("rung6_mma_sync", "rung7_wgmma", "elementwise"):
        script = folder / f"small_{rung}.py"
        script.write_text(SMALL.format(home=str(HOME), rung=rung), "utf-8")
        for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
            command = [
                "compute-sanitizer",
                "--tool",
                tool,
                "--error-exitcode",
                "9",
                sys.executable,
                str(script),
            ]
            runs[f"{rung} {tool}"] = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
            )
    found = {}
    for name, run in runs.items():
        try:
            text = run.communicate(timeout=150)[0]
        except subprocess.TimeoutExpired:
            run.kill()
            text = "did not end in 150 s"
        (folder / f"sanitize_{name.replace(' ', '_')}.txt").write_text(text, "utf-8")
        found[name] = {"exit": run.returncode, "last": text.strip().splitlines()[-1:]}
    return found


METRICS = {
    "time": "gpu__time_duration.sum",
    "tensor pipe busy, %": "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",
    "tensor cycles, %": "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "issue slots, %": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "DRAM bytes": "dram__bytes.sum",
    "L2 bytes": "lts__t_bytes.sum",
    "shared wavefronts, %": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "SM clock": "smsp__cycles_elapsed.avg.per_second",
    "registers": "launch__registers_per_thread",
}


def part_ncu(folder: Path) -> dict[str, Any]:
    """Counters of the kernels of rungs 6 and 7 at full size, clocks as they are."""
    found: dict[str, Any] = {}
    for rung in ("rung6_mma_sync", "rung7_wgmma"):
        code = f"""import sys; sys.path.insert(0, {str(HOME)!r}); sys.path.insert(0, {str(ROOT)!r})
from benchmarks.ladder_parts.kit import draw
from benchmarks.ladder_parts.files import FULL
import {rung} as r
args = draw(*FULL)
r.gemm_relu(*args); r.gemm_relu(*args)
import torch; torch.cuda.synchronize()"""
        command = [
            "ncu",
            "--csv",
            "--clock-control",
            "none",
            "--kernel-name",
            "regex:split_rows|product|repair",
            "--metrics",
            ",".join(METRICS.values()),
        ]
        done = subprocess.run(
            [*command, sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=150
        )
        (folder / f"ncu_{rung}.csv").write_text(done.stdout, "utf-8")
        lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
        table = [r for r in csv.DictReader(lines) if r["ID"].isdigit()]
        kernels: dict[str, dict[str, str]] = {}
        for r in table:
            kernels.setdefault(f"{r['ID']} {r['Kernel Name'].split('(')[0]}", {})[r["Metric Name"]] = (
                f"{r['Metric Value']} {r['Metric Unit']}"
            )
        found[rung] = kernels or done.stdout[-600:] + done.stderr[-600:]
    return found
