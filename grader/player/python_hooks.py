"""What Python calls by itself while other code runs.

Left behind by a file, a function for ``sys.setprofile``, ``sys.settrace`` or ``sys.monitoring`` would see
each call that the player makes; callbacks of the collector run wherever memory is asked for, and a timer's
handler anywhere. So none of them outlives a call or the import of the file.
"""

from __future__ import annotations

import gc
import signal
import sys
from typing import Any

# Bound now: a file that replaces these later on changes nothing.
_get_profile, _set_profile, _get_trace, _set_trace = (
    sys.getprofile, sys.setprofile, sys.gettrace, sys.settrace,
)  # fmt: skip
_collected, _collected_before = gc.callbacks, tuple(gc.callbacks)
_set_timer, _get_timer = signal.setitimer, signal.getitimer
_monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
Hooks = tuple[Any, Any, frozenset[int]]


class HookLeftOnError(Exception):
    """A function that Python calls by itself was still there when it should not be."""


def those_on() -> Hooks:
    """What is set now: a debugger's own, as a rule nothing."""
    return _get_profile(), _get_trace(), _tools()


def end_those_since(before: Hooks, when: str) -> None:
    """Take away what was set since ``those_on`` was asked; HookLeftOnError if it sees the calls of others.

    Callbacks of the collector and timers are ended without a word: libraries have reasons for them.
    """
    left: list[str] = []
    if _get_profile() is not before[0]:
        _set_profile(before[0])
        left.append("sys.setprofile")
    if _get_trace() is not before[1]:
        _set_trace(before[1])
        left.append("sys.settrace")
    for tool in _tools() - before[2]:
        _monitoring.set_events(tool, 0)
        _monitoring.free_tool_id(tool)
        left.append("sys.monitoring")
    _collected[:] = _collected_before
    for timer in _TIMERS:
        if any(_get_timer(timer)):
            _set_timer(timer, 0)
    if left:
        raise HookLeftOnError(
            f"After {when} a function was still set by {' and '.join(left)}, and would be called in what "
            "follows. Take it away before that ends."
        )


def _tools() -> frozenset[int]:
    """Numbers of those who use ``sys.monitoring``."""
    return (
        frozenset(t for t in range(6) if _monitoring.get_tool(t) is not None) if _monitoring else frozenset()
    )


def refuse_audits() -> None:
    """No other audit hook is added after this: it could never be taken away. Nobody is told."""

    def refuse(event: str, _: tuple[object, ...]) -> None:
        if event == "sys.addaudithook":
            raise RuntimeError  # by which Python leaves the new one out

    sys.addaudithook(refuse)
