"""The parts of a profile: claims of a player, rows, traces, names for ncu."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any

import pytest

from grader.domain import gpu_card
from grader.domain.lessons import course_root
from grader.player.commands import profiled as act
from grader.profiling.profile import chrome_trace, driver, kernel_rows
from grader.profiling.profile.launch_rows import Launch, parse
from grader.referee.parts import trace_events as reader

RECORDED = course_root() / "lessons" / "05_profiling" / "data" / "trace.json.gz"
CARD = gpu_card.card("h200")


def valid(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The events, if Chrome's Trace Event format (the JSON object form) allows them as they are."""
    data = json.loads(json.dumps(data, allow_nan=False))
    assert data["displayTimeUnit"] in ("ms", "ns")
    for e in data["traceEvents"]:
        assert isinstance(e["name"], str) and e["ph"] in ("X", "M") and isinstance(e["args"], dict)
        assert all(type(e[key]) is int for key in ("pid", "tid"))
        assert math.isfinite(e["ts"]) and e["ts"] >= 0
        if e["ph"] == "X":
            assert isinstance(e["cat"], str) and math.isfinite(e["dur"]) and e["dur"] >= 0
        else:
            assert e["name"] in ("process_name", "thread_name") and isinstance(e["args"]["name"], str)
    return list(data["traceEvents"])


@pytest.mark.parametrize(
    "claim",
    [
        None, 3, [], {}, {"kernel": 7, "grid": "all", "block": [True, -1], "counts": []},
        {"counts": {"read_bytes": -4, "written_bytes": 1 << 80, "operations": {"flops": "many"}}},
        {"counts": {"global_load": {"requests": 1.5}, "lines": [None, {"file": 1}, {"file": "a", "line": 3,
                    "what": "__class__"}]}},
        {"seconds": float("nan"), "began": -1}, {"seconds": True},
    ],
)  # fmt: skip
def test_a_claim_without_form_counts_as_nothing(claim: Any) -> None:
    found = parse(claim)
    assert found.kernel == "(unnamed)" and found.seconds == 0.0 and found.began == 0.0
    assert (found.read, found.written, found.flops, found.load, found.lines) == (0, 0, 0, (0, 0), [])
    valid(chrome_trace.floors([found], CARD))
    assert kernel_rows.lines([found]) == []


def test_rows_are_those_of_one_call() -> None:
    times = [3e-6, 1e-6, 2e-6] * 2  # two launches a call, three calls
    found = [Launch("k", (2,), (32,), seconds=s) for s in times]
    [row] = kernel_rows.rows(found, calls=3)
    assert (row.launches, row.seconds) == (2, pytest.approx(4e-6))
    assert row.load is None


def test_launches_of_another_shape_are_another_row() -> None:
    found = [Launch("k", (2,), (32,)), Launch("k", (3,), (32,)), Launch("k", (2,), (32,))]
    assert [(r.grid, r.launches) for r in kernel_rows.rows(found)] == [("2", 2), ("3", 1)]


def test_a_trace_of_floors_has_one_launch_after_another() -> None:
    found = [Launch("a", (1,), (1,), True, read=4800), Launch("b", (1,), (1,), True, flops=66_900_000)]
    valid(chrome_trace.floors(found, CARD))
    a, b = reader.events(chrome_trace.floors(found, CARD))
    assert (a.name, a.start, a.takes) == ("a", 0.0, pytest.approx(1e-3))
    assert (b.name, b.start, b.takes) == ("b", a.end, pytest.approx(1.0))
    assert "not a measurement" in b.facts["what the duration is"]


def test_a_recorded_trace_of_a_gpu_comes_out_as_it_was() -> None:
    """From the trace that lesson 05 reads, by way of the player's claims and the rows, to a new trace."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))["traceEvents"]
    claims = act.kernels(recorded)
    theirs = [e for e in reader.read(RECORDED) if e.kind == "kernel"]
    assert len(claims) == len(theirs) > 10
    found = [parse(c) for c in json.loads(json.dumps(claims))]
    rows = kernel_rows.rows(found)
    assert sum(r.launches for r in rows) == len(theirs)
    assert any(r.grid != "0" and r.block != "0" for r in rows)
    events = valid(chrome_trace.times(found, "a GPU"))[2:]
    assert [e["name"] for e in events] == [e.name[:300] for e in theirs]
    for mine, their in zip(events, theirs, strict=True):
        assert mine["dur"] == pytest.approx(their.takes)
        assert mine["ts"] == pytest.approx(their.start - theirs[0].start, abs=1e-3)


@pytest.mark.parametrize(
    ("kernel", "base"),
    [
        ("square_kernel", "square_kernel"),
        ("square_kernel(float const*, float*, int)", "square_kernel"),
        ("void scale<float, 4>(float*)", "scale"),
        ("void (anonymous namespace)::mine::go<(int)4>(float*)", "go"),
        ("", ""),
    ],
)
def test_a_kernels_name_as_ncu_filters_it(kernel: str, base: str) -> None:
    assert driver.base(kernel) == base
