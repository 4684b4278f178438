"""A launch tells whether it went to another device than the tensors', and a block whether its number was too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.backends.simt.runtime.device import ANOTHER_DEVICE, DEFAULT_STREAM, STREAM_OF_ANOTHER

if TYPE_CHECKING:
    from .conftest import Play

LAUNCHED_ELSEWHERE = {
    "none": ANOTHER_DEVICE,
    "ended": ANOTHER_DEVICE,
    "guarded": DEFAULT_STREAM,
    "optional": DEFAULT_STREAM,
    "any_device": DEFAULT_STREAM,
    "set": DEFAULT_STREAM,
    "in_python": DEFAULT_STREAM,
    "stream_before": STREAM_OF_ANOTHER,
    "stream_after": 0,
    "stream_of_x": 0,
    "twice": STREAM_OF_ANOTHER,
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
    answer = play("devices")["launched_only"]
    assert (answer["result"], answer["findings"]) == ([False, True, True], [])
