"""The heap of the device: malloc, free, new and delete in kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.domain.verdict import Status
from grader.feedback.memory import status_of

from .conftest import line_of

if TYPE_CHECKING:
    from .conftest import Play

X = [float(i) for i in range(1024)]
RIGHT = {
    "own_memory": [2 * x + 3 for x in X],
    "by_new": [x + 7 for x in X],
    "shared_among_a_block": [X[i - i % 256 + 255 - i % 256] for i in range(1024)],
    "from_kernel_to_kernel": [X[i % 8] for i in range(1024)],
    "in_both": X,
    "many": [50 * x for x in X],
    "host_side": [5.0] * 1024,
    "full": [3.0] * 1024,
}
WHAT = "an allocation of 16 bytes on the device heap"
FREED = "; only what malloc or new in a kernel has given can be freed, by that address"
HOST = (
    "; what malloc or new in a kernel has given is for kernels only: let one copy it to memory of cudaMalloc, "
    "or free it"
)
BROKEN = {
    "past_end": ("global-out-of-bounds", f"writes element 4 of {WHAT}, 1 element past the end"),
    "before_start": ("global-out-of-bounds", f"reads element -1 of {WHAT}, 1 element before the start"),
    "unwritten": ("global-uninitialised-read", f"reads element 1 of {WHAT}, which nothing has written"),
    "after_free": ("use-after-free", f"reads element 0 of {WHAT}, which has been freed"),
    "after_free_kept": ("use-after-free", f"reads element 0 of {WHAT}, which has been freed"),
    "twice": ("double-free", f"frees {WHAT}, which has been freed"),
    "delete_twice": ("double-free", f"frees {WHAT.replace('16', '4')}, which has been freed"),
    "not_its_start": ("bad-free", f"frees element 4 of {WHAT}{FREED}"),
    "of_a_tensor": ("bad-free", f"frees element 0 of y (Float[1024]){FREED}"),
    "of_shared": ("bad-free", f"frees an address that is not device memory{FREED}"),
    "racing": ("global-race", f"writes element 1 of {WHAT} without order to another thread's write of it"),
    "freed_too_early": (
        "global-race",
        f"frees {WHAT.replace('16', '1024')} without order to another thread's read of it",
    ),
    "host_copies": ("host-uses-heap", f"host code reads {WHAT}{HOST}"),
    "host_copies_to": ("host-uses-heap", f"host code writes {WHAT}{HOST}"),
    "host_fills": ("host-uses-heap", f"host code writes {WHAT}{HOST}"),
    "host_frees": ("host-uses-heap", f"host code frees {WHAT}{HOST}"),
    "host_deletes": ("host-uses-heap", f"host code frees {WHAT}{HOST}"),
    "host_reads": (
        "host-touches-device-memory",
        f"host code reads element 0 of {WHAT} directly, and only a kernel can; to read it on the host, copy it to the CPU first",
    ),
}
ERROR = {
    "past_end": "an illegal memory access was encountered",
    "after_free": "an illegal memory access was encountered",
    "twice": "unspecified launch failure",
    "of_shared": "unspecified launch failure",
}


@pytest.mark.parametrize("name", RIGHT)
def test_it_gives_what_a_gpu_gives(play: Play, name: str) -> None:
    answer = play("heap")[name]
    assert (answer["findings"], answer["error"]) == ([], "")
    assert answer["result"] == RIGHT[name]


def test_nodes_that_one_kernel_links_and_the_next_one_takes_apart(play: Play) -> None:
    answer = play("heap")["list"]
    assert (answer["findings"], answer["result"][:3]) == ([], [sum(X), 1024, 1024])


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_use_is_found_at_its_line(play: Play, name: str) -> None:
    kind, what = BROKEN[name]
    f = play("heap")[name]["findings"][0]
    assert (f["kind"], f["line"], f["what"]) == (kind, line_of("heap", name), what)
    assert f["severity"] == "error"
    assert status_of(f["kind"]) is not Status.TAMPERED


def test_the_thread_is_named(play: Play) -> None:
    (f,) = play("heap")["delete_twice"]["findings"]
    assert (f["kernel"], f["block"], f["thread"], f["count"]) == ("delete_twice", [0, 0, 0], [3, 0, 0], 4)
    (f, late) = play("heap")["freed_too_early"]["findings"]
    assert (f["thread"], f["other"]["access"]) == ([255, 0, 0], "read")
    assert (late["kind"], late["block"], late["count"]) == ("use-after-free", [0, 0, 0], 768)


@pytest.mark.parametrize("name", ERROR)
def test_the_error_is_cudas(play: Play, name: str) -> None:
    assert ERROR[name] in play("heap")[name]["error"]


def test_new_of_a_full_heap_is_null(play: Play) -> None:
    (f,) = play("heap")["unchecked_null"]["findings"]
    assert (f["kind"], f["line"]) == ("illegal-address", line_of("heap", "unchecked_null"))


def test_its_size_is_asked_for_and_set_before_the_first_use(play: Play) -> None:
    size, taken, too_late, in_time, smaller, refused, again, taken_again = play("heap")["limit"]["result"]
    assert (size, taken, smaller, refused, again, taken_again) == (8 << 20, 1, 64, 0, 8 << 20, 1)
    assert (too_late, in_time) == (1, 0)  # cudaErrorInvalidValue


def test_what_a_kernel_may_find_out_of_its_size_is_told(play: Play) -> None:
    assert play("heap")["limit_told"]["result"] == [64, 8 << 20]  # once the host has set it


def test_a_reset_of_the_device_takes_all_of_it(play: Play) -> None:
    (f,) = play("heap")["after_reset"]["findings"]
    assert (f["kind"], f["count"]) == ("use-after-free", 1024)


def test_the_host_gets_an_error(play: Play) -> None:
    for name in ("host_copies", "host_copies_to", "host_fills", "host_frees"):
        assert play("heap")[name]["result"][0] == 1, name  # cudaErrorInvalidValue


def test_it_is_counted_recorded_and_watched_like_other_memory(play: Play) -> None:
    answers = play("heap")
    for name in ("counted", "recorded", "watched", "written_before", "memory"):
        assert (answers[name]["findings"], answers[name]["error"]) == ([], ""), name
    counts = answers["counted"]["launches"][0]["counts"]
    assert (counts["global_store"]["lanes"], counts["global_load"]["lanes"]) == (5 * 1024, 3 * 1024)
    objects = answers["recorded"]["result"]
    assert {4 * k for k in range(1, 51)} <= {nbytes for kind, nbytes in objects if kind == "tensor"}
    for name in ("watched", "written_before"):
        assert answers[name]["result"] == {"foreign": [0, 0], "writers": []}
    assert answers["memory"]["result"] == [8 * 16 + 2 * 4096, 0]
