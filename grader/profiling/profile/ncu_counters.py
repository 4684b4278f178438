"""What ncu counts of a subject's kernels on a GPU: the same calls once more, under it."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.backends.cuda import ncu
from grader.domain import disk
from grader.domain.installation import COURSE
from grader.profiling.profile import kernel_rows, observed
from grader.profiling.profile.driver import base
from grader.profiling.profile.kernel_rows import Row, shape
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.backends.cuda.ncu import Measured
    from grader.backends.detect import Choice
    from grader.profiling.profile.subjects import Subject

NO_TOOL = "ncu was not found, so nothing is counted here; it comes with the CUDA toolkit (nsight-compute)."
NO_RIGHT = f"ncu may not read this GPU's counters; the ncu line of {COURSE} doctor says what to do."

SANDBOX = "Root's right to them ends at the sandbox: for a file of your own there is --sandbox off."


@dataclass(frozen=True, slots=True)
class Counted:
    """``launches`` with measured bytes of DRAM, percent of the card's peaks, and registers."""

    launches: list[Measured] = field(default_factory=list)
    report: bytes = b""
    why_not: str = ""

    def counts_of(self, row: Row) -> Measured | None:
        """The first launch of a row's kernel with its grid and block."""
        for found in self.launches:
            one = found.launch
            same = shape(one.grid) == row.grid and shape(one.block) == row.block
            if base(one.kernel) == base(row.kernel) and same:
                return found
        return None

    def as_json(self, row: Row) -> dict[str, object]:
        """What was counted of one launch of a row, for other programs; {} if ncu did not see it."""
        found = self.counts_of(row)
        if found is None:
            return {}
        counts = kernel_rows.counted(found.launch)
        percent = {"memory": found.memory, "compute": found.compute, "occupancy": found.occupancy}
        return {
            "ncu": {
                "dram_read_bytes": counts.read_bytes,
                "dram_written_bytes": counts.written_bytes,
                "l2_bytes": found.l2_bytes,
                "flops": counts.flops,
                "global_load_requests": counts.global_load.requests,
                "global_load_sectors": counts.global_load.sectors,
                "global_store_requests": counts.global_store.requests,
                "global_store_sectors": counts.global_store.sectors,
                "percent": percent,
                "registers": found.registers,
                "seconds": found.launch.seconds,
                "stalls": found.stalls,
            }
        }


def count(subject: Subject, choice: Choice, mode: str, rows: list[Row]) -> Counted:
    """Have ncu count each launch of ``rows``' kernels in one call; ``why_not`` says why it could not."""
    if not detect.ncu():
        return Counted(why_not=NO_TOOL)
    names = sorted({base(r.kernel) for r in rows} - {""})
    with tempfile.TemporaryDirectory(prefix="ncu-") as folder:
        report = Path(folder) / "report.ncu-rep"
        try:
            printed = observed.under(ncu.command(names, report), Path(folder), subject, choice, mode)
        except FaultError as fault:
            return Counted(why_not=f"Under ncu the file did not get to its end: {fault.message}")
        found = ncu.read(report) if report.exists() else []
        if not found:
            return Counted(why_not=_reason(printed, mode))
        return Counted(found, report.read_bytes())


def _reason(printed: str, mode: str) -> str:
    if ncu.REFUSED in printed:
        return NO_RIGHT if mode == "off" else f"{NO_RIGHT} {SANDBOX}"
    said = re.findall(r"^==(?:ERROR|WARNING)== *(.+)$", printed, re.M)
    return f"ncu counted nothing{': ' + said[0] if said else '.'}"


def dots(rows: list[Row], counted: Counted | None) -> list[Row]:
    """The rows that ncu saw, of one launch each, with what it counted and torch.profiler's time."""
    found = [(row, seen) for row in rows if counted and (seen := counted.counts_of(row))]
    return [
        replace(row, launches=1, read=c.read_bytes, written=c.written_bytes, flops=c.flops,
                seconds=row.seconds / row.launches)
        for row, seen in found for c in (kernel_rows.counted(seen.launch),)
    ]  # fmt: skip


def keep(counted: Counted, folder: Path) -> dict[str, Path]:
    """Write ncu's own report into ``folder``, for ncu-ui."""
    path = folder / "report.ncu-rep"
    disk.write(path, counted.report)
    return {"ncu": path}
