"""Every planted bug gives its finding at its line; its look-alike gives none."""

from __future__ import annotations

import platform

import pytest

from grader.backends.simt.runtime.library_reports import RawFinding
from grader.backends.simt.runtime.sentences import sentence
from grader.domain.verdict import Status
from grader.feedback.memory import status_of

from .conftest import Play, line_of

KIND = {
    "oob_read": "global-out-of-bounds",
    "oob_before": "global-out-of-bounds",
    "oob_write": "global-out-of-bounds",
    "local_oob": "array-out-of-bounds",
    "overflow": "illegal-address",
    "wraps": "illegal-address",
    "missing_sync": "shared-race",
    "reduce_no_sync": "shared-race",
    "early_exit": "barrier-exited-threads",
    "divergent_barrier": "barrier-divergence",
    "uninit_global": "global-uninitialised-read",
    "uninit_shared": "shared-uninitialised-read",
    "endless": "step-budget",
    "racy_histogram": "global-race",
    "misaligned": "misaligned",
    "shared_oob": "shared-out-of-bounds",
    "dynamic_oob": "shared-out-of-bounds",
    "other_value": "shared-race",
    "bad_shuffle": "shuffle-from-absent-lane",
    "stuck": "deadlock",
    "asserts": "assert",
    "divides": "division-by-zero",
    "freed": "use-after-free",
    "host_pointer": "illegal-address",
    "host_deref": "host-touches-device-memory",
}
RIGHT = (
    "ok_shifted_read",
    "ok_synced",
    "ok_reduce",
    "ok_atomic",
    "ok_dynamic",
    "ok_shuffle",
    "ok_same_value",
    "allowed_shared",
)
ERROR = {
    "oob_read": "an illegal memory access was encountered",
    "misaligned": "misaligned address",
    "asserts": "device-side assert triggered",
    "endless": "the launch timed out",
    "stuck": "unspecified launch failure",
}


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", KIND)
def test_a_planted_bug_is_found_at_its_line(play: Play, name: str) -> None:
    found = play("bugs")[name]["findings"]
    places = {(f["kind"], f["line"]) for f in found}
    assert (KIND[name], line_of("bugs", name)) in places, found
    assert all(f["file"].endswith("programs/bugs.py") for f in found if f["line"])


@pytest.mark.parametrize("name", RIGHT)
def test_its_look_alike_is_silent(play: Play, name: str) -> None:
    answer = play("bugs")[name]
    assert answer["findings"] == []
    assert answer["error"] == ""


@pytest.mark.parametrize("name", ERROR)
def test_the_cuda_error_is_a_gpus(play: Play, name: str) -> None:
    assert ERROR[name] in play("bugs")[name]["error"]


def test_a_finding_names_thread_element_and_tensor(play: Play) -> None:
    (f,) = play("bugs")["oob_read"]["findings"]
    assert (f["block"], f["thread"]) == ([3, 0, 0], [255, 0, 0])
    assert f["what"] == "reads element 1024 of x (Float[1024]), 1 element past the end"
    assert (f["access"], f["size"], f["count"], f["kernel"]) == ("read", 4, 1, "oob_read")
    (f,) = play("bugs")["oob_before"]["findings"]
    assert f["what"].endswith("2 elements before the start") and f["count"] == 2


def test_an_index_beyond_a_local_array_names_the_array(play: Play) -> None:
    (f,) = play("bugs")["local_oob"]["findings"]
    assert f["what"].replace("float[", "float [") == (
        "uses element 4 of a, which is float [4]: 1 element past the end"
    )
    assert (f["block"], f["thread"], f["severity"]) == ([0, 0, 0], [0, 0, 0], "error")


def test_an_index_that_overflowed_explains_the_access(play: Play) -> None:
    (f,) = play("bugs")["overflow"]["findings"]
    line = line_of("bugs", "overflow")
    before = f"Before that, line {line} computes 67108864 * 32 as int, which cannot hold it"
    assert f["what"] == (
        f"reads an address that is not device memory. {before}; make one side size_t or int64_t"
    )


def test_an_index_that_wrapped_around_says_so(play: Play) -> None:
    (f,) = play("bugs")["wraps"]["findings"]
    assert f["what"] == (
        "reads element 4294967295 of x, far outside of it: -1 as an unsigned number is 4294967295; "
        "compare before you subtract, or make the index an int"
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="one instruction cannot be let through there")
def test_an_access_that_nothing_tells_of_is_found_by_taking_memory_away(play: Play) -> None:
    found = [f for f in play("bugs")["by_pointer"]["findings"] if f["kind"] == "unseen-access"]
    assert found and {f["access"] for f in found} <= {"read", "write"}
    assert all(f["kernel"] == "by_pointer" and " unseen by the checks" in f["what"] for f in found)
    assert status_of("unseen-access") is Status.TAMPERED


def test_what_is_near_nothing_has_a_sentence() -> None:
    f = RawFinding("shared-out-of-bounds", 1, access=2, size=4)
    assert sentence(f) == "reads 4 bytes outside of everything that exists"


def test_a_race_names_both_threads(play: Play) -> None:
    f = next(f for f in play("bugs")["missing_sync"]["findings"] if f["kind"] == "shared-race")
    assert f["other"]["thread"] != f["thread"]
    assert line_of("bugs", "missing_sync") in (f["line"], f["other"]["line"])


def test_elements_that_were_never_written(play: Play) -> None:
    (f,) = play("bugs")["not_all_written"]["findings"]
    assert f["kind"] == "output-not-written"
    assert f["what"] == "512 of 1024 elements of Float[1024] were never written, the first is element 1"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("too_many_threads", "at most 1024 threads"),
        ("empty_grid", "the grid is empty"),
        ("too_much_shared", "cudaFuncSetAttribute"),
    ],
)
def test_a_wrong_configuration_is_a_launch_error(play: Play, name: str, why: str) -> None:
    answer = play("bugs")[name]
    assert "CUDA error: invalid argument" in answer["error"] and why in answer["error"]
    assert answer["findings"] == []


def test_an_early_exit_is_only_a_warning(play: Play) -> None:
    severities = {f["kind"]: f["severity"] for f in play("bugs")["early_exit"]["findings"]}
    assert severities["barrier-exited-threads"] == "warning"
