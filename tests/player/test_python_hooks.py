"""Functions that Python calls by itself: none that a file has set sees what the player does."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.player import python_hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    profile, trace, callbacks = sys.getprofile(), sys.gettrace(), list(gc.callbacks)
    yield
    sys.setprofile(profile)
    sys.settrace(trace)
    gc.callbacks[:] = callbacks


def _nothing(*_: object) -> None:
    """Is called, and does not care."""


@pytest.mark.parametrize("setter", [sys.setprofile, sys.settrace])
def test_one_that_was_left_on_is_taken_away_and_named(setter: Callable[..., None]) -> None:
    before = python_hooks.those_on()
    setter(_nothing)
    with pytest.raises(python_hooks.HookLeftOnError, match=f"After the call .*{setter.__name__}"):
        python_hooks.end_those_since(before, "the call")
    assert python_hooks.those_on() == before


def test_one_that_ended_and_a_debuggers_are_nobodys_fault() -> None:
    sys.setprofile(_nothing)
    before = python_hooks.those_on()
    sys.settrace(_nothing)
    sys.settrace(before[1])
    python_hooks.end_those_since(before, "the call")
    assert sys.getprofile() is _nothing


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_who_monitors_does_so_no_longer() -> None:
    before = python_hooks.those_on()
    sys.monitoring.use_tool_id(4, "mine")  # type: ignore[attr-defined,unused-ignore]
    with pytest.raises(python_hooks.HookLeftOnError, match=r"sys\.monitoring"):
        python_hooks.end_those_since(before, "the call")
    assert sys.monitoring.get_tool(4) is None  # type: ignore[attr-defined,unused-ignore]


def test_callbacks_of_the_collector_and_timers_end_without_a_word() -> None:
    before = python_hooks.those_on()
    gc.callbacks.append(_nothing)
    handler = signal.signal(signal.SIGVTALRM, _nothing)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 1000)
        python_hooks.end_those_since(before, "the call")
        assert _nothing not in gc.callbacks and signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    finally:
        signal.signal(signal.SIGVTALRM, handler)


def test_no_other_audit_hook_is_added() -> None:
    """In a process of its own: one that was added stays."""
    code = (
        "import sys\nfrom grader.player import python_hooks\nseen = []\n"
        "if sys.argv[1] == 'refused':\n    python_hooks.refuse_audits()\n"
        "sys.addaudithook(lambda event, _: seen.append(event))\nopen(sys.executable).close()\n"
        "print('open' in seen)\n"
    )

    def heard(how: str) -> str:
        command = [sys.executable, "-c", code, how]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert (heard("let in"), heard("refused")) == ("True", "False")
