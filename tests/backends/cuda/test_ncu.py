"""Nsight Compute's table of raw values, read back as launches."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from grader.backends import detect
from grader.backends.cuda import ncu
from grader.profiling.profile import ncu_counters
from grader.profiling.profile.kernel_rows import rows
from grader.profiling.profile.ncu_counters import Counted
from grader.protocol.messages import Launch, Requests, decode, plain

DATA = Path(__file__).with_name("data") / "ncu_square_h200.csv"  # made by ncu on an H200


def test_a_report_of_a_gpu_is_read() -> None:
    [found] = ncu.parse(DATA.read_text())
    launch, counts, elements = found.launch, found.launch.counts, 4096 * 4096
    assert decode(json.loads(json.dumps(plain(launch))), Launch) == launch
    assert launch.kernel.startswith("square_kernel(")
    assert (launch.grid, launch.block) == ((256, 256, 1), (16, 16, 1))
    assert counts is not None and counts.operations == {"flops": elements}
    assert counts.global_load == Requests(requests=elements // 32, sectors=elements // 8)
    assert counts.read_bytes >= 4 * elements
    assert 1e-5 < launch.seconds < 1e-3 and found.registers == 16
    assert all(0 < share <= 100 for share in (found.memory, found.compute, found.occupancy))


@pytest.mark.parametrize("number", ["nan", "inf", "-3", "1e300", "many", "9" * 400])
def test_a_report_may_hold_any_number(number: str) -> None:
    """The process that is looked at may write to the report as well."""
    names, units, row = csv.reader(DATA.read_text().splitlines()[-3:])
    forged = [
        number if name.endswith((".sum", "thread")) else value for name, value in zip(names, row, strict=True)
    ]
    text = "\n".join(",".join(f'"{x}"' for x in line) for line in (names, units, forged))
    [found] = ncu.parse(text)
    assert decode(plain(found.launch), Launch) == found.launch
    assert found.launch.seconds == 0 and found.registers == 0


def test_counted_launches_find_their_rows() -> None:
    counted = Counted(ncu.parse(DATA.read_text()))
    seen = Launch("square_kernel(float const*, float*, long, long)", (256, 256, 1), (16, 16, 1), seconds=6e-5)
    [row] = rows([seen, seen], calls=2)
    found = counted.counts_of(row)
    assert found is not None and found.registers == 16
    [dot] = ncu_counters.dots([row], counted)
    assert dot.flops == 4096 * 4096 and dot.seconds == 6e-5 and dot.moved > 4 * dot.flops
    numbers: Any = counted.as_json(row)["ncu"]
    assert numbers["global_load_sectors"] == 4 * numbers["global_load_requests"]
    other = rows([replace(seen, block=(32, 8, 1))])[0]
    assert counted.counts_of(other) is None and counted.as_json(other) == {}


@pytest.mark.parametrize("text", ["", "==ERROR== no kernels were profiled", '"ID","Kernel Name"\n'])
def test_a_report_without_launches_is_empty(text: str) -> None:
    assert ncu.parse(text) == []


def test_what_ncu_is_asked_is_one_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(detect, "ncu", lambda: "/cuda/bin/ncu")
    command = ncu.command(["square_kernel", "other"], tmp_path / "report.ncu-rep")
    assert command[0] == "/cuda/bin/ncu" and "regex:^(square_kernel|other)$" in command
    assert command[-2:] == ("-o", str(tmp_path / "report")) and "dram__bytes_read.sum" in " ".join(command)
