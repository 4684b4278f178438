"""The counts of simt beside those of Nsight Compute, launch by launch, on the same source.

python benchmarks/ncu.py simt OUT.json         count on this CPU (needs g++ and binutils; no torch, no GPU)
python benchmarks/ncu.py gpu OUT.json          count with ncu (needs nvcc, ncu and a GPU)
python benchmarks/ncu.py compare A.json B.json benchmarks/results/ncu_compare.json
python benchmarks/ncu.py again TABLE.json      count on this CPU once more, beside ncu's values in the table
"""

from __future__ import annotations

import csv
import ctypes
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "benchmarks" / "simt_kernels"
PARTS = ("memory", "shared", "atomic", "launches", "ladders", "rows", "shapes", "launches_typical")
ALL = "all_launches(); typical_launches();"
T, D = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum", "l1tex__data_{}_pipe_lsu_{}mem_shared_op_{}.sum"
METRICS = {
    "global load requests": T.format("requests", "ld"),
    "global load sectors": T.format("sectors", "ld"),
    "global store requests": T.format("requests", "st"),
    "global store sectors": T.format("sectors", "st"),
    "global atomic requests": T.format("requests", "red"),  # and those whose result is used, below
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "blocks by warps": "launch__occupancy_limit_warps",
}
USED_ATOMICS = T.format("requests", "atom")
OPERATIONS = {"fadd": 1, "fmul": 1, "ffma": 2}
OPERATION = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
# For reading, not for comparing: caches and the compiler have their say in these.
BESIDE = (
    "dram__bytes_read.sum", "dram__bytes_write.sum", "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__inst_executed_op_shared_ld.sum", "launch__registers_per_thread",
    "launch__occupancy_limit_shared_mem",
)  # fmt: skip


def on_gpu(out: Path) -> None:
    """Compile with nvcc, count with ncu."""
    with tempfile.TemporaryDirectory() as folder:
        program, source = Path(folder) / "program", Path(folder) / "program.cu"
        includes = "".join(f'#include "{part}.cuh"\n' for part in PARTS)
        source.write_text(f"#include <cuda_runtime.h>\n{includes}int main() {{ {ALL} }}\n")
        compiler = ["nvcc", "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", f"-I{KERNELS}", str(source)]
        subprocess.run([*compiler, "-o", str(program)], check=True)
        plain = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        wanted = [*METRICS.values(), USED_ATOMICS, *map(OPERATION.format, OPERATIONS), *BESIDE]
        command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
        command += ["--cache-control", "all", "--metrics", ",".join(wanted), str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        version = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True).stdout
        release = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    table = "\n".join(line for line in done.stdout.splitlines() if line.startswith('"'))
    rows = list(csv.DictReader(io.StringIO(table)))[1:]  # the first row holds the units
    names = labels(plain)
    if len(rows) != len(names):
        out.with_suffix(".csv").write_text(done.stdout)
        sys.exit(
            f"ncu counted {len(rows)} launches of {len(names)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )

    def number(row: dict[str, str], metric: str) -> float:
        return float((row.get(metric) or "nan").replace(",", ""))

    launches = []
    for label, row in zip(names, rows, strict=True):
        values = {name: number(row, metric) for name, metric in METRICS.items()}
        values["global atomic requests"] += number(row, USED_ATOMICS)
        values["flops"] = sum(n * number(row, OPERATION.format(op)) for op, n in OPERATIONS.items())
        beside = {metric: number(row, metric) for metric in BESIDE}
        launches.append({"label": label, "values": values, "beside": beside})
    gpu = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    how = {"gpu": gpu, "ncu": version.splitlines()[-1], "nvcc": release.splitlines()[-2]}
    out.write_text(json.dumps({"how": how, "launches": launches}, indent=1))


def labels(text: str) -> list[str]:
    """The launches' names, from what the program printed."""
    lines = [line for line in text.splitlines() if line.startswith("LAUNCH ")]
    return [line.removeprefix("LAUNCH ").removesuffix(" no error") for line in lines]


def on_cpu(out: Path) -> None:
    """Compile with the C++ compiler, count with simt."""
    sys.path.insert(0, str(ROOT))
    from grader.backends.simt.compile import toolchain
    from grader.backends.simt.standalone import Counting, compile_program

    files = [KERNELS / f"{part}.cuh" for part in PARTS]
    texts = [(str(file), file.read_text().replace("#pragma once", "")) for file in files]
    exported = f'extern "C" __attribute__((visibility("default"))) void count() {{ {ALL} }}\n'
    with tempfile.TemporaryDirectory() as folder:
        counting = Counting(compile_program([*texts, ("count.cu", exported)], Path(folder)))
        printed = labels(what_it_prints(counting.functions.count))
        rows = [
            {"label": label, "kernel": launch.kernel, "values": values_of(launch.counts)}
            for label, launch in zip(printed, counting.launches(), strict=True)
        ]
    out.write_text(
        json.dumps({"how": {"compiler": toolchain.compiler().version}, "launches": rows}, indent=1)
    )


def what_it_prints(function: Callable[[], Any]) -> str:
    """What C code wrote to standard output meanwhile."""
    libc, own = ctypes.CDLL(None), os.dup(1)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 1)
        function()
        libc.fflush(None)
        os.dup2(own, 1)
        file.seek(0)
        return file.read()


def values_of(counts: Any) -> dict[str, float]:
    """The counts (:class:`grader.protocol.messages.Counts`) by the names of ``METRICS``."""
    values: dict[str, float] = {}
    for kind in ("load", "store"):
        traffic, shared = getattr(counts, f"global_{kind}"), getattr(counts, f"shared_{kind}")
        values |= {f"global {kind} {key}": getattr(traffic, key) for key in ("requests", "sectors")}
        values |= {f"shared {kind} {key}": getattr(shared, key) for key in ("wavefronts", "conflicts")}
    values["global atomic requests"] = counts.global_atomic.requests
    values["blocks by warps"] = counts.occupancy.by_warps
    values["flops"] = counts.flops
    return values


def recorded(table: dict[str, Any]) -> dict[str, Any]:
    """What ``gpu`` wrote, out of the table that was made of it."""
    launches = []
    for row in table["rows"]:
        values = row["values"] | {name: pair["ncu"] for name, pair in row["different"].items()}
        launches.append({"label": row["label"], "values": values, "beside": row["beside"]})
    return {"how": table["how"], "launches": launches}


def again(table: Path) -> None:
    """Counts here anew, and compares with the GPU's values of the table."""
    theirs = recorded(json.loads(table.read_text()))
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "simt.json"
        on_cpu(ours)
        compare(json.loads(ours.read_text()), theirs, table)


def compare(ours: dict[str, Any], theirs: dict[str, Any], out: Path) -> None:
    """Every value of every launch: equal, or by how much not."""
    rows, values, equal = [], 0, 0
    for own, other in zip(ours["launches"], theirs["launches"], strict=True):
        assert own["label"] == other["label"], (own["label"], other["label"])
        different = {
            name: {"simt": own["values"][name], "ncu": other["values"][name]}
            for name in own["values"]
            if own["values"][name] != other["values"][name]
        }
        values += len(own["values"])
        equal += len(own["values"]) - len(different)
        rows.append(own | {"different": different, "beside": other["beside"]})
        for name, pair in different.items():
            print(f"{own['label']:28} {name:26} simt {pair['simt']:>12,.0f}   ncu {pair['ncu']:>12,.0f}")
    clean = sum(not row["different"] for row in rows)
    print(f"{equal} of {values} values equal ({equal / values:.1%}); {clean} of {len(rows)} launches in all")
    how = theirs["how"] | ours["how"] | {"command": "python benchmarks/ncu.py"}
    summary = {"launches": len(rows), "launches equal": clean, "values": values, "values equal": equal}
    out.write_text(json.dumps({"how": how, "summary": summary, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["simt", target]:
            on_cpu(Path(target))
        case ["gpu", target]:
            on_gpu(Path(target))
        case ["compare", left, right, target]:
            compare(json.loads(Path(left).read_text()), json.loads(Path(right).read_text()), Path(target))
        case ["again", target]:
            again(Path(target))
        case _:
            sys.exit(__doc__)
