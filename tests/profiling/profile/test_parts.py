"""The parts of a profile: claims of a player, rows, traces, names for ncu."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any

import pytest

from grader.domain import gpu_card
from grader.domain.lessons import course_root
from grader.player import observe
from grader.profiling.profile import chrome_trace, driver, kernel_rows
from grader.protocol.messages import Counts, Launch, Timed, decode, plain
from grader.referee.parts import trace_events as reader

RECORDED = course_root() / "lessons" / "05_profiling" / "data" / "trace.json.gz"
CARD = gpu_card.card("h200")


def valid(trace: chrome_trace.Trace) -> list[dict[str, Any]]:
    """The events, if Chrome's Trace Event format (the JSON object form) allows them as they are."""
    data = json.loads(trace.as_json())
    assert data["displayTimeUnit"] in ("ms", "ns")
    for e in data["traceEvents"]:
        assert isinstance(e["name"], str) and e["ph"] in ("X", "M") and isinstance(e["args"], dict)
        assert all(type(e[key]) is int for key in ("pid", "tid"))
        assert math.isfinite(e["ts"]) and e["ts"] >= 0
        if e["ph"] == "X":
            assert isinstance(e["cat"], str) and math.isfinite(e["dur"]) and e["dur"] >= 0
        else:
            assert e["name"] in ("process_name", "thread_name") and isinstance(e["args"]["name"], str)
            assert "dur" not in e and "cat" not in e
    return list(data["traceEvents"])


def test_a_launch_of_which_nothing_is_known_counts_as_nothing() -> None:
    [row] = kernel_rows.rows([Launch()])
    assert (row.kernel, row.grid, row.block, row.seconds) == ("(unnamed)", "0", "0", 0.0)
    assert (row.moved, row.flops, row.load, row.store) == (0, 0, None, None)
    valid(chrome_trace.floors([Launch()], CARD))
    assert kernel_rows.lines([Launch()]) == []


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
    busy = Counts(operations={"flops": 66_900_000})
    found = [
        Launch("a", (1,), (1,), counts=Counts(read_bytes=4800)),
        Launch("b", (1,), (1,), counts=busy),
    ]
    valid(chrome_trace.floors(found, CARD))
    trace = json.loads(chrome_trace.floors(found, CARD).as_json())
    a, b = reader.events(trace)
    assert (a.name, a.start, a.takes) == ("a", 0.0, pytest.approx(1e-3))
    assert (b.name, b.start, b.takes) == ("b", a.end, pytest.approx(1.0))
    assert "not a measurement" in str(trace["traceEvents"][-1]["args"]["what the duration is"])


def test_a_recorded_trace_of_a_gpu_comes_out_as_it_was() -> None:
    """From the trace that lesson 05 reads, by way of the player's claims and the rows, to a new trace."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))["traceEvents"]
    theirs = [e for e in reader.read(RECORDED) if e.kind == "kernel"]
    told = json.loads(json.dumps(plain(Timed(tuple(observe.kernels(recorded))))))
    found = decode(told, Timed).launches
    assert len(found) == len(theirs) > 10
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
