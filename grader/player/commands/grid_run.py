"""Run a Python kernel thread by thread. The memory is the referee's: each access is a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypedDict

from grader.lesson_support.grid import AccessError, not_an_index
from grader.protocol.plain_numbers import heard, told

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage


GROWS = {"append", "extend", "insert", "pop", "remove", "clear"}


class Remote:
    """A list of numbers that lies with the referee."""

    def __init__(self, callback: Callback, name: str, length: int) -> None:
        self._callback = callback
        self._name = name
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Any:
        return self._ask("read", index, None)

    def __setitem__(self, index: int, value: Any) -> None:
        if hasattr(value, "item"):
            value = value.item()
        self._ask("write", index, value)

    def __getattr__(self, name: str) -> Any:
        grows = " and cannot grow" if name in GROWS else ""
        raise AttributeError(
            f"{self._name} is memory of a fixed size in a kernel{grows}: it has no {name}; "
            f"store {self._name}[i] = ..."
        )

    def _ask(self, kind: str, index: Any, value: Any) -> Any:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(not_an_index(self._name, index))
        if kind == "write" and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise TypeError(f"{self._name}[{index}] holds one number, not a {type(value).__name__}")
        # Where the kernel does this, for the message; nothing else rests on it.
        reply = self._callback.ask(
            {kind: [self._name, index, told(value)], "line": sys._getframe(2).f_lineno}
        )
        if "fault" in reply:
            raise AccessError(reply["fault"])
        return heard(reply["value"])


class Nothing(TypedDict):
    """All is said: the referee has seen each access."""


def perform(stage: Stage, callback: Callback, entry: str, args: list[Any]) -> Nothing:
    """Run ``entry`` for each thread that the referee names, until it names none.

    ``args``: plain values, and ``{"array": name, "length": n}`` for each array.
    """
    kernel = stage.entry(entry)
    given = [Remote(callback, a["array"], a["length"]) if isinstance(a, dict) else a for a in args]
    while who := callback.ask({"next": True})["thread"]:
        try:
            kernel(*who, *given)
        except AccessError:
            continue
    return {}
