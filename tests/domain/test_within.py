"""Work on a foreign text is ended when its time or its memory is over, and says what came of it otherwise."""

from __future__ import annotations

import time

import pytest

from grader.domain.errors import BadInputError
from grader.domain.within import TooMuchError, within


def test_the_result_comes_back_and_nothing_else_does() -> None:
    seen: list[int] = []
    assert within(5.0, lambda: (seen.append(1), {"a": [1, 2]})) == (None, {"a": [1, 2]})
    assert seen == []


def test_an_error_is_raised_here() -> None:
    def refuse() -> None:
        raise BadInputError("not a notebook")

    with pytest.raises(BadInputError, match="not a notebook"):
        within(5.0, refuse)


def test_time_ends_it_also_within_one_regular_expression() -> None:
    import re

    begun = time.monotonic()
    with pytest.raises(TooMuchError, match=r"0\.2 s"):
        within(0.2, lambda: re.match(r"(a|a)*b", "a" * 64))
    assert time.monotonic() - begun < 2


def test_time_on_a_busy_machine_is_not_counted() -> None:
    """It sleeps as it would wait for a processor."""
    assert within(0.2, lambda: time.sleep(0.6)) is None


def test_work_that_never_ends_and_never_computes_is_ended() -> None:
    with pytest.raises(TooMuchError):
        within(0.05, lambda: time.sleep(60.0))


def test_memory_ends_it() -> None:
    with pytest.raises(TooMuchError):
        within(5.0, lambda: bytearray(1 << 40))
