"""Nsight Compute's table of raw values, read back as launches."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from grader.backends import detect
from grader.backends.cuda import ncu, stalls
from grader.profiling.profile import ncu_counters, show
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


STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


def with_more(**values: str) -> str:
    """The report of the H200 with columns that ``--set full`` adds; the numbers are made up."""
    names, units, row = csv.reader(DATA.read_text().splitlines()[-3:])
    more = {k if "__" in k else STALLED.format(k): v for k, v in values.items()}
    lines = ([*names, *more], [*units, *("" for _ in more)], [*row, *more.values()])
    return "\n".join(",".join(f'"{x}"' for x in line) for line in lines)


def test_stall_reasons_and_the_bytes_of_the_l2_cache() -> None:
    text = with_more(
        long_scoreboard="12.5", long_scoreboard_not_issued="12.4", selected="1.0", not_selected="0.5", wait="2",
        barrier="0", gpu__strange="7", **{ncu.L2: "134,217,728"},
    )  # fmt: skip
    [found] = ncu.parse(text)
    assert found.l2_bytes == 1 << 27
    assert found.stalls == {"long_scoreboard": 12.5, "not_selected": 0.5, "wait": 2.0, "barrier": 0.0}
    assert list(stalls.shares(found.stalls)) == ["long_scoreboard", "wait", "not_selected", "barrier"]
    said = stalls.sentence(found.stalls)
    assert said.startswith("83 % for what it loads from device memory (long_scoreboard); 13 % a fixed time")
    assert "barrier" not in said and stalls.sentence({}) == stalls.sentence({"wait": 0.0}) == ""
    assert "for a reason of this name (new_in_2027)" in stalls.sentence({"new_in_2027": 1.0})


def test_a_report_of_before_has_neither() -> None:
    [found] = ncu.parse(DATA.read_text())
    assert found.stalls == {} and found.l2_bytes == 0


def test_what_warps_wait_for_is_said_below_the_table() -> None:
    counted = Counted(ncu.parse(with_more(long_scoreboard="3", barrier="1", **{ncu.L2: "5000000"})))
    seen = Launch("square_kernel(float const*, float*, long, long)", (256, 256, 1), (16, 16, 1), seconds=6e-5)
    [row] = rows([seen])
    [said] = show.waiting([row], counted)
    assert said.startswith(
        "square_kernel: 5 MB through L2, its warps wait 75 % for what it loads from device"
    )
    assert "25 % for the block's other warps at __syncthreads() (barrier)" in said
    assert show.waiting([row], Counted(ncu.parse(DATA.read_text()))) == show.waiting([row], Counted()) == []
    numbers: Any = counted.as_json(row)["ncu"]
    assert numbers["l2_bytes"] == 5_000_000 and numbers["stalls"] == {"long_scoreboard": 3.0, "barrier": 1.0}
