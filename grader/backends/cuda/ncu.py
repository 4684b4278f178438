"""Nsight Compute: its command, and the report that it wrote, read back as launches with what they did."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from grader.backends.detect import nvcc

REFUSED = "ERR_NVGPUCTRPERM"
T, OPERATION = (
    "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum",
    "smsp__sass_thread_inst_executed_op_{}_pred_on.sum",
)
READ, WRITTEN, SECONDS = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
OCCUPANCY, REGISTERS = "sm__warps_active.avg.pct_of_peak_sustained_active", "launch__registers_per_thread"
OPERATIONS = {"fadd": 1, "fmul": 1, "ffma": 2}
METRICS = (
    READ, WRITTEN, SECONDS, MEMORY, COMPUTE, OCCUPANCY, REGISTERS,
    *(T.format(what, op) for what in ("requests", "sectors") for op in ("ld", "st")),
    *map(OPERATION.format, OPERATIONS),
)  # fmt: skip


def tool() -> str:
    """The path of ncu: on the PATH, or beside nvcc; "" without one."""
    beside = Path(nvcc()).with_name("ncu") if nvcc() else None
    return shutil.which("ncu") or (str(beside) if beside and beside.exists() else "")


def command(names: list[str], report: Path) -> tuple[str, ...]:
    """Everything that ncu can say of the kernels with these names, written to ``report`` (.ncu-rep)."""
    only = ("-k", f"regex:^({'|'.join(map(re.escape, names))})$") if names else ()
    sets = ("--set", "full", "--import-source", "yes", "--metrics", ",".join(METRICS))
    return (tool() or "ncu", *sets, *only, "-f", "-o", str(report.with_suffix("")))


def read(report: Path) -> list[dict[str, Any]]:
    """The launches of a report, in order, as :func:`grader.profiling.profile.launch_rows.parse` takes them.

    Each has also ``percent``: of the card's peak, memory and compute, and the occupancy that was achieved;
    and ``registers`` of a thread. Empty if ncu cannot read the report.
    """
    page = (tool(), "--import", str(report), "--csv", "--page", "raw", "--print-units", "base")
    done = subprocess.run(page, capture_output=True, text=True, timeout=120, check=False)
    return parse(done.stdout)


def parse(text: str) -> list[dict[str, Any]]:
    """The launches in ncu's table of raw values: a row of names, one of units, and one for each launch."""
    table = "\n".join(line for line in text.splitlines() if line.startswith('"'))
    return [_launch(row) for row in list(csv.DictReader(io.StringIO(table)))[1:]]


def _launch(row: dict[str, str]) -> dict[str, Any]:
    def value(metric: str) -> float:
        try:
            return float((row.get(metric) or "0").replace(",", ""))
        except ValueError:
            return 0.0

    def traffic(op: str) -> dict[str, int]:
        return {what: int(value(T.format(what, op))) for what in ("requests", "sectors")}

    flops = sum(weight * int(value(OPERATION.format(op))) for op, weight in OPERATIONS.items())
    return {
        "kernel": row.get("Kernel Name", ""),
        "grid": _shape(row.get("Grid Size", "")),
        "block": _shape(row.get("Block Size", "")),
        "seconds": value(SECONDS) / 1e9,
        "counts": {
            "read_bytes": int(value(READ)), "written_bytes": int(value(WRITTEN)),
            "operations": {"flops": flops}, "global_load": traffic("ld"), "global_store": traffic("st"),
        },
        "percent": {"memory": value(MEMORY), "compute": value(COMPUTE), "occupancy": value(OCCUPANCY)},
        "registers": int(value(REGISTERS)),
    }  # fmt: skip


def _shape(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", text)[:3]]
