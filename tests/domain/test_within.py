"""Work on a foreign text is ended when its time or its memory is over, and says what came of it otherwise."""

from __future__ import annotations

import os
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


def test_a_fork_is_tried_again_while_another_thread_takes_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """filelock refuses it for that moment, as when several gradings of one process take theirs."""
    fork, asked = os.fork, list[int]()

    def refused_twice() -> int:
        asked.append(1)
        if len(asked) < 3:
            raise RuntimeError("os.fork is unsafe while filelock is changing descriptor ownership")
        return fork()

    monkeypatch.setattr(os, "fork", refused_twice)
    assert within(5.0, lambda: 1) == 1


def test_work_that_never_ends_and_never_computes_is_ended() -> None:
    with pytest.raises(TooMuchError):
        within(0.05, lambda: time.sleep(60.0))


def test_memory_ends_it() -> None:
    with pytest.raises(TooMuchError):
        within(5.0, lambda: bytearray(1 << 40))
