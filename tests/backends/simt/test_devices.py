"""A launch tells whether it went to another device than the tensors', and a block whether its number was too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Play

LAUNCHED_ELSEWHERE = {
    "none": 1,
    "ended": 1,
    "guarded": 0,
    "optional": 0,
    "any_device": 0,
    "set": 0,
    "in_python": 0,
}


@pytest.mark.slow
def test_a_launch_goes_to_the_current_device(play: Play) -> None:
    answers = play("devices")
    assert {name: answers[name]["error"] for name in LAUNCHED_ELSEWHERE} == dict.fromkeys(
        LAUNCHED_ELSEWHERE, ""
    )
    assert {name: answers[name]["result"] for name in LAUNCHED_ELSEWHERE} == LAUNCHED_ELSEWHERE


@pytest.mark.slow
def test_a_block_behind_2_to_the_32_elements_writes_only_where_the_index_has_32_bits(play: Play) -> None:
    answers = play("devices")
    assert (answers["with_64"]["result"], answers["with_32"]["result"]) == (False, True)
    assert answers["near"]["result"] is True


@pytest.mark.slow
def test_without_blocks_a_launch_writes_nothing_and_may_be_refused_all_the_same(play: Play) -> None:
    assert play("devices")["launched_only"]["result"] == [False, True, True]
