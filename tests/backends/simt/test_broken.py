"""Each broken case gives exactly its finding; each look-alike gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.domain.lessons import course_root

from .corpus import library

if TYPE_CHECKING:
    from .conftest import Play

FINDING = {
    "read_past_end": "global-out-of-bounds",
    "read_before_start": "global-out-of-bounds",
    "write_past_end": "global-out-of-bounds",
    "shared_past_end": "shared-out-of-bounds",
    "dynamic_past_end": "shared-out-of-bounds",
    "local_past_end": "array-out-of-bounds",
    "after_free": "use-after-free",
    "misaligned": "misaligned",
    "host_pointer": "illegal-address",
    "object_of_the_host": "host-code",
    "copied_object": "host-code",
    "copied_function": "host-code",
    "function_in_variable": "host-code",
    "unwritten_global": "global-uninitialised-read",
    "to_host_unwritten": "unwritten-copy",
    "copied_unwritten": "global-uninitialised-read",
    "unwritten_shared": "shared-uninitialised-read",
    "member_unwritten": "shared-uninitialised-read",
    "tag_unwritten": "shared-uninitialised-read",
    "element_unwritten": "shared-uninitialised-read",
    "component_unwritten": "shared-uninitialised-read",
    "padding_as_data": "shared-uninitialised-read",
    "padding_as_words": "shared-uninitialised-read",
    "copied_padding_as_data": "shared-uninitialised-read",
    "missing_barrier": "shared-race",
    "missing_warp_barrier": "shared-race",
    "missing_second_barrier": "shared-race",
    "many_readers": "shared-race",
    "many_reading_blocks": "global-race",
    "racing_blocks": "global-race",
    "racing_counter": "global-race",
    "storage_reused": "shared-race",
    "written_constant": "global-race",
    "read_then_written": "shared-race",
    "racing_variable": "global-race",
    "narrow_atomic": "global-race",
    "narrow_fence": "global-race",
    "read_only_written": "read-only-race",
    "different_barriers": "barrier-divergence",
    "left_before_barrier": "barrier-exited-threads",
    "absent_lane": "shuffle-from-absent-lane",
    "wrong_mask": "bad-mask",
    "stuck": "deadlock",
    "endless": "step-budget",
    "grid_without_cooperation": "not-cooperative",
    "asserts": "assert",
    "divides_by_zero": "division-by-zero",
    "overflows": "integer-overflow",
    "ends_without_return": "missing-return",
    "large_array": "local-memory",
    "endless_calls": "local-memory",
    "kept_memory": "leak",
}


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", FINDING)
def test_exactly_its_finding(play: Play, name: str) -> None:
    found = play("broken")[name]["findings"]
    assert {f["kind"] for f in found} == {FINDING[name]}, found


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", [n for n in library.cases("broken") if n.startswith("ok_")])
def test_a_look_alike_is_silent(play: Play, name: str) -> None:
    assert play("broken")[name]["findings"] == []


@pytest.mark.slow
def test_a_race_names_the_device_variable(play: Play) -> None:
    (f,) = play("broken")["racing_variable"]["findings"]
    assert "the __device__ variable total without order to another thread's" in f["what"]


@pytest.mark.slow
def test_a_copy_of_what_nothing_wrote_names_how_much(play: Play) -> None:
    (f,) = play("broken")["to_host_unwritten"]["findings"]
    assert f["severity"] == "warning"
    assert "copies 128 bytes of an allocation of 128 bytes to the host" in f["what"]
    assert "nothing has written 32 of them; the first is byte 96" in f["what"]
    lines = (course_root() / "tests/backends/simt/corpus/broken.cu").read_text().splitlines()
    copy = lines.index("void to_host_unwritten(const float* x, float* y, int n) {") + 4
    assert "cudaMemcpy(host, fresh" in lines[copy]
    assert f["file"].endswith("broken.cu")
    assert f["line"] == copy + 1


@pytest.mark.slow
def test_a_scope_that_is_too_small_is_named(play: Play) -> None:
    (atomic,) = play("broken")["narrow_atomic"]["findings"]
    assert "in the scope of one block, and another block updates it, too" in atomic["what"]
    fence = play("broken")["narrow_fence"]["findings"][0]
    assert fence["what"].endswith("__threadfence_block() says nothing to other blocks")


def test_every_case_is_judged() -> None:
    assert set(library.cases("broken")) == set(FINDING) | {
        n for n in library.cases("broken") if n.startswith("ok_")
    }
