"""Nsight Compute: its command, and the report that it wrote, read back as launches with what they did."""

from __future__ import annotations

import csv
import io
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.backends.cuda import stalls
from grader.protocol.messages import MOST_TEXT, Counts, Launch, Requests

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "ERR_NVGPUCTRPERM"
T, OPERATION = (
    "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum",
    "smsp__sass_thread_inst_executed_op_{}_pred_on.sum",
)
L2 = "lts__t_bytes.sum"
READ, WRITTEN, SECONDS = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
OCCUPANCY, REGISTERS = "sm__warps_active.avg.pct_of_peak_sustained_active", "launch__registers_per_thread"
OPERATIONS = {"fadd": 1, "fmul": 1, "ffma": 2}
METRICS = (
    READ, WRITTEN, L2, SECONDS, MEMORY, COMPUTE, OCCUPANCY, REGISTERS,
    *(T.format(what, op) for what in ("requests", "sectors") for op in ("ld", "st")),
    *map(OPERATION.format, OPERATIONS),
)  # fmt: skip


def command(names: list[str], report: Path) -> tuple[str, ...]:
    """Everything that ncu can say of the kernels with these names, written to ``report`` (.ncu-rep)."""
    only = ("-k", f"regex:^({'|'.join(map(re.escape, names))})$") if names else ()
    sets = ("--set", "full", "--import-source", "yes", "--metrics", ",".join(METRICS))
    return (detect.ncu() or "ncu", *sets, *only, "-f", "-o", str(report.with_suffix("")))


@dataclass(frozen=True, slots=True)
class Measured:
    """One launch under ncu. Of the card's peak in percent: memory, compute and the occupancy achieved.

    ``registers``: of a thread. ``l2_bytes``: through the L2 cache. ``stalls``: warps that wait, by the
    reason, on average in each cycle in which one issues; {} where ncu did not say.
    """

    launch: Launch
    memory: float
    compute: float
    occupancy: float
    registers: int
    l2_bytes: int = 0
    stalls: dict[str, float] = field(default_factory=dict)


def read(report: Path) -> list[Measured]:
    """The launches of a report, in order. Empty if ncu cannot read the report."""
    page = (detect.ncu(), "--import", str(report), "--csv", "--page", "raw", "--print-units", "base")
    done = subprocess.run(page, capture_output=True, text=True, timeout=120, check=False)
    return parse(done.stdout)


def parse(text: str) -> list[Measured]:
    """The launches in ncu's table of raw values: a row of names, one of units, and one for each launch."""
    table = "\n".join(line for line in text.splitlines() if line.startswith('"'))
    return [_measured(row) for row in list(csv.DictReader(io.StringIO(table)))[1:]]


def _measured(row: dict[str, str]) -> Measured:
    counts = Counts(
        global_load=_requests(row, "ld"),
        global_store=_requests(row, "st"),
        read_bytes=int(_value(row, READ)),
        written_bytes=int(_value(row, WRITTEN)),
        operations={"flops": sum(n * int(_value(row, OPERATION.format(op))) for op, n in OPERATIONS.items())},
    )
    launch = Launch(
        kernel=row.get("Kernel Name", "")[:MOST_TEXT],
        grid=_shape(row.get("Grid Size", "")),
        block=_shape(row.get("Block Size", "")),
        seconds=_value(row, SECONDS) / 1e9,
        counts=counts,
    )
    memory, compute, occupancy = (_value(row, metric) for metric in (MEMORY, COMPUTE, OCCUPANCY))
    waiting = {reason: _value(row, name) for reason, name in stalls.found(row).items()}
    numbers = int(_value(row, REGISTERS)), int(_value(row, L2))
    return Measured(launch, memory, compute, occupancy, *numbers, waiting)


def _requests(row: dict[str, str], op: str) -> Requests:
    requests, sectors = (int(_value(row, T.format(what, op))) for what in ("requests", "sectors"))
    return Requests(requests=requests, sectors=sectors)


def _value(row: dict[str, str], metric: str) -> float:
    """A number of the report; 0 where there is none, and where no count can be so large."""
    try:
        value = float((row.get(metric) or "0").replace(",", ""))
    except ValueError:
        return 0.0
    return value if 0 <= value < 1 << 60 else 0.0


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d{1,18}", text)[:3])
