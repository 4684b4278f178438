"""PTX's strong accesses race with no others of their scope; a volatile one of C++ does, and is told so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Play

RIGHT = (
    "load_relaxed", "load_acquire", "load_volatile", "load_in_one_block", "store_relaxed", "store_release",
    "store_volatile", "store_in_one_block", "load_vector", "store_vector", "given_by_a_flag", "given_by_a_count",
)  # fmt: skip
WRONG = {
    "load_in_block": "the scope of one block (.cta) says nothing to other blocks",
    "store_in_block": "the scope of one block (.cta) says nothing to other blocks",
    "load_weak": "without order to another thread's atomic of it",
    "store_weak": "without order to another thread's",
    "cpp_volatile_load": "is volatile, which makes it neither atomic nor ordered: read and write it with "
    "cuda::atomic_ref",
    "cpp_volatile_store": "is volatile, which makes it neither atomic nor ordered: read and write it with "
    "cuda::atomic_ref",
    "given_without_order": "without order to another thread's write of it",
}


@pytest.mark.parametrize("name", RIGHT)
def test_strong_accesses_of_one_scope_are_no_race(name: str, play: Play) -> None:
    answer = play("strong_order")[name]
    assert (answer["error"], answer["findings"]) == ("", [])


def test_a_strong_access_is_made(play: Play) -> None:
    answers = play("strong_order")
    assert answers["load_relaxed"]["result"][0] == 128
    assert answers["store_release"]["result"][0] >= 7
    assert answers["given_by_a_flag"]["result"][1] == 5


@pytest.mark.parametrize("name", WRONG)
def test_weak_and_narrow_and_volatile_ones_are(name: str, play: Play) -> None:
    answer = play("strong_order")[name]
    assert answer["error"] == ""
    assert answer["findings"][0]["kind"] == "global-race"
    assert WRONG[name] in answer["findings"][0]["what"]
