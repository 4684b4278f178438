"""Streams of the CPU back end are in order with each other, and a launch tells all the same on which it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Play

# Whether each launch was on the default stream: first with it as the current stream, then with another one.
DEFAULT = {
    "unnamed": ([True], [True]),
    "current": ([True], [False]),
    "by_default": ([True], [True]),
    "legacy": ([True], [True]),
    "of_the_thread": ([True], [True]),
    "made": ([False], [False]),
    "copied": ([True], [False]),
    "guarded": ([False, True], [False, False]),
}


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", DEFAULT)
def test_a_launch_tells_whether_it_was_on_the_default_stream(play: Play, name: str) -> None:
    for word, default in zip((name, f"{name}_inside"), DEFAULT[name], strict=True):
        answer = play("streams")[word]
        assert answer["error"] == ""
        assert [launch["default_stream"] for launch in answer["launches"]] == default, word


def test_a_launch_or_a_copy_tells_whether_it_was_on_a_stream_of_its_own(play: Play) -> None:
    own = {
        name for name, answer in play("streams").items() if any(x["own_stream"] for x in answer["launches"])
    }
    assert own == {"made", "made_inside", "copied", "copied_inside"}


def test_a_thread_begins_with_the_default_stream(play: Play) -> None:
    assert [launch["default_stream"] for launch in play("streams")["thread_inside"]["launches"]] == [True]


def test_each_stream_has_a_handle(play: Play) -> None:
    assert play("streams")["handles"]["error"] == ""
