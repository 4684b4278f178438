"""Nsight Compute's table of raw values, read back as launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.backends.cuda import ncu
from grader.profiling.profile import ncu_counters
from grader.profiling.profile.kernel_rows import rows
from grader.profiling.profile.launch_rows import parse
from grader.profiling.profile.ncu_counters import Counted

DATA = Path(__file__).with_name("data") / "ncu_square_h200.csv"  # made by ncu on an H200


def test_a_report_of_a_gpu_is_read() -> None:
    [launch] = ncu.parse(DATA.read_text())
    elements = 4096 * 4096
    assert launch["kernel"].startswith("square_kernel(")
    assert (launch["grid"], launch["block"]) == ([256, 256, 1], [16, 16, 1])
    assert launch["counts"]["operations"] == {"flops": elements}
    assert launch["counts"]["global_load"] == {"requests": elements // 32, "sectors": elements // 8}
    assert launch["counts"]["read_bytes"] >= 4 * elements
    assert 1e-5 < launch["seconds"] < 1e-3 and launch["registers"] == 16
    assert all(0 < launch["percent"][key] <= 100 for key in ("memory", "compute", "occupancy"))


def test_counted_launches_find_their_rows() -> None:
    [said] = ncu.parse(DATA.read_text())
    counted = Counted([parse(said)], [{key: said[key] for key in ("percent", "registers")}])
    seen = {"kernel": "square_kernel(float const*, float*, long, long)", "grid": [256, 256, 1],
            "block": [16, 16, 1], "seconds": 6e-5}  # fmt: skip
    [row] = rows([parse(seen), parse(seen)], calls=2)
    found = counted.counts_of(row)
    assert found is not None and found[1]["registers"] == 16
    [dot] = ncu_counters.dots([row], counted)
    assert dot.flops == 4096 * 4096 and dot.seconds == 6e-5 and dot.moved > 4 * dot.flops
    numbers = counted.as_json(row)["ncu"]
    assert numbers["global_load_sectors"] == 4 * numbers["global_load_requests"]
    other = rows([parse(seen | {"block": [32, 8, 1]})])[0]
    assert counted.counts_of(other) is None and counted.as_json(other) == {}


@pytest.mark.parametrize("text", ["", "==ERROR== no kernels were profiled", '"ID","Kernel Name"\n'])
def test_a_report_without_launches_is_empty(text: str) -> None:
    assert ncu.parse(text) == []


def test_what_ncu_is_asked_is_one_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ncu, "tool", lambda: "/cuda/bin/ncu")
    command = ncu.command(["square_kernel", "other"], tmp_path / "report.ncu-rep")
    assert command[0] == "/cuda/bin/ncu" and "regex:^(square_kernel|other)$" in command
    assert command[-2:] == ("-o", str(tmp_path / "report")) and "dram__bytes_read.sum" in " ".join(command)
