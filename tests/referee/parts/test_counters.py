"""Counters: bounds on counted traffic, with the line that makes most of it."""

from types import SimpleNamespace

import pytest

from grader.domain.task import Case, Task
from grader.domain.verdict import Status
from grader.protocol.messages import Launch, decode
from grader.referee import counting
from grader.referee.fault import FaultError
from grader.referee.parts.counters import Bound, Counters, busiest, total

COUNTED = {
    "counts": {
        "global_load": {"requests": 4, "sectors": 16},
        "global_atomic": {"requests": 3, "sectors": 3},
        "shared_load": {"requests": 2, "conflicts": 62},
        "shared_store": {"requests": 0, "conflicts": 3},
        "barriers": 9,
        "tensor_operations": 8192,
        "operations": {"fma_f32": 5, "flops": 10},
        "lines": [
            {"file": "a", "what": "global_load", "line": 7, "sectors": 12},
            {"file": "a", "what": "global_load", "line": 9, "sectors": 4},
            {"file": "a", "what": "global_atomic", "line": 8, "requests": 3},
            {"file": "a", "what": "shared_load", "line": 11, "wavefronts": 64, "least": 2},
            {"file": "a", "what": "shared_store", "line": 12, "wavefronts": 4, "least": 1},
        ],
    },
    "grid": [2, 3, 1],
}
LAUNCH = decode(COUNTED, Launch)


@pytest.mark.parametrize(
    ("metric", "count", "place"),
    [
        ("global_load_sectors", 38, (7, 24)),
        ("global_atomic_requests", 6, (8, 6)),
        ("global_load_sectors_a_block", 8, (7, 24)),
        ("barriers", 18, None),
        ("barriers_a_block", 4, None),
        ("tensor_operations", 16384, None),
        ("flops", 20, None),
        ("shared_load_conflicts", 124, (11, 124)),
        ("shared_store_conflicts", 6, (12, 6)),
        ("shared_conflicts", 130, (11, 124)),
        ("global_store_sectors", 6, None),
        ("shared_store_requests", 0, None),
        ("launches", 2, None),
    ],
)
def test_launches_are_added_up_and_the_worst_line_is_found(metric, count, place):
    assert total(metric, [LAUNCH, LAUNCH]) == count
    assert busiest(metric, [LAUNCH, LAUNCH]) == place


def test_a_launch_that_was_not_counted_counts_as_nothing():
    assert total("global_load_sectors", [Launch("f")]) == 0
    assert busiest("global_load_sectors", [Launch("f")]) is None


def test_what_is_asked_for_without_any_case_is_counted_all_the_same():
    def gone():
        raise FaultError(Status.CRASHED, "nothing to call")

    grading = SimpleNamespace(task=Task("T", "f"), revive=gone)
    session = SimpleNamespace(
        grading=grading, fallen=lambda check, fault: check.failed(fault.status, fault.message)
    )
    bound = Bound("few", "launches", 1, 2, "One is enough.")
    (found,) = Counters(Case("counted"), (bound,)).judge(session)
    assert (found.id, found.status) == ("few", Status.CRASHED)


def test_a_bound_that_is_not_held_names_the_kernel_and_its_line(monkeypatch):
    quiet = decode({"kernel": "quiet"}, Launch)
    busy = decode({"kernel": "busy"} | COUNTED, Launch)
    calls = [SimpleNamespace(launches=[quiet, busy], work=())]
    monkeypatch.setattr(counting, "judged", lambda *_, **__: calls)
    grading = SimpleNamespace(task=Task("T", "f"), record=SimpleNamespace(findings=[], memory=[]))
    bound = Bound("few", "global_load_sectors", 1, 2, "One is enough.")
    (found,) = Counters(Case("counted"), (bound,)).judge(SimpleNamespace(grading=grading))
    assert found.status is Status.FAILED
    assert (found.evidence["kernel"], found.evidence["line"]) == ("busy", 7)


@pytest.mark.parametrize(("limit", "status"), [(8192, Status.PASSED), (8193, Status.FAILED)])
def test_what_must_be_reached_is_asked_of_the_call_with_the_least(monkeypatch, limit, status) -> None:
    calls = [SimpleNamespace(launches=launches, work=()) for launches in ([LAUNCH, LAUNCH], [LAUNCH])]
    monkeypatch.setattr(counting, "judged", lambda *_, **__: calls)
    grading = SimpleNamespace(task=Task("T", "f"), record=SimpleNamespace(findings=[], memory=[]))
    bound = Bound("many", "tensor_operations", limit, 1, "By tensor cores.", at_least=True)
    (found,) = Counters(Case("counted"), (bound,)).judge(SimpleNamespace(grading=grading))
    assert found.status is status and f"Counted 8,192 tensor operations, needed {limit:,}." in found.message
    assert found.evidence["at_least"] == limit and "at_most" not in found.evidence


@pytest.mark.parametrize(("moved", "status"), [(48, Status.FAILED), (4, Status.PASSED)])
def test_an_operator_of_torch_that_goes_over_the_result_is_a_launch_more(monkeypatch, moved, status) -> None:
    returned = SimpleNamespace(tensors=[SimpleNamespace(shape=(3, 4))])
    calls = [SimpleNamespace(launches=[Launch()], work=(("clone", 1, moved, 0),), returned=returned)]
    monkeypatch.setattr(counting, "judged", lambda *_, **__: calls)
    grading = SimpleNamespace(task=Task("T", "f"), record=SimpleNamespace(findings=[], memory=[]))
    (found,) = Counters(Case("counted"), (Bound("one", "launches", 1, 1, "One."),)).judge(
        SimpleNamespace(grading=grading)
    )
    assert found.status is status and ("`clone`" in found.message) == (status is Status.FAILED)


@pytest.mark.parametrize(("limit", "least", "said"), [(6, 4, True), (6, 8, False), (3, 4, False)])
def test_a_line_whose_threads_read_apart_is_told_so_where_that_is_enough(
    monkeypatch, limit, least, said
) -> None:
    line = {"file": "a", "what": "global_load", "line": 7, "sectors": 12, "least": least}
    launch = decode({"counts": {"global_load": {"sectors": 12}, "lines": [line]}}, Launch)
    monkeypatch.setattr(counting, "judged", lambda *_, **__: [SimpleNamespace(launches=[launch], work=())])
    grading = SimpleNamespace(task=Task("T", "f"), record=SimpleNamespace(findings=[], memory=[]))
    bound = Bound("few", "global_load_sectors", limit, 2, "So many are enough.")
    (found,) = Counters(Case("counted"), (bound,)).judge(SimpleNamespace(grading=grading))
    assert ("threadIdx.x are neighbours" in found.message) is said


@pytest.mark.parametrize("bad", [None, "b", "c"])
def test_each_further_size_is_counted(monkeypatch, bad) -> None:
    def judged(_, case, **__):
        sectors = 5 if case.name == bad else 4
        return [
            SimpleNamespace(
                launches=[decode({"counts": {"global_load": {"sectors": sectors}}}, Launch)], work=()
            )
        ]

    monkeypatch.setattr(counting, "judged", judged)
    grading = SimpleNamespace(task=Task("T", "f"), record=SimpleNamespace(findings=[], memory=[]), rng=None)
    bound = Bound("few", "global_load_sectors", 4, 2, "So many are enough.")
    part = Counters(Case("a"), (bound,), (lambda _: (Case("b"), (4,)), lambda _: (Case("c"), (4,))))
    (found,) = part.judge(SimpleNamespace(grading=grading))
    assert found.ok is (bad is None) and (bad is None or f"for {bad}" in found.message)
