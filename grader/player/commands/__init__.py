"""What a player can be asked to do besides calling with tensors: one module an act, each with ``perform``.

While it acts, a player may need something that the referee holds (a clock, a memory, a kernel under test).
It asks for it over :class:`Line`, in the middle of the act.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from grader.protocol.wire import Channel

if TYPE_CHECKING:
    from grader.player.stage import Stage

# Every module of this folder is a command; the name comes from the wire, so it is looked up, never imported.
ACTS = frozenset(module.name for module in pkgutil.iter_modules(__path__))


class Line:
    """The player's way to ask the referee back."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def ask(self, wants: Any) -> Any:
        """Say what is wanted (JSON values) and wait for the referee's reply."""
        self._channel.send({"answer": {"wants": wants}})
        return self._channel.receive()["reply"]


def perform(stage: Stage, channel: Channel, act: str, **fields: Any) -> dict[str, Any]:
    """Do ``act`` and answer plain data."""
    if act not in ACTS:
        raise ValueError(f"there is no act {act!r}")
    module = importlib.import_module(f"grader.player.commands.{act}")
    answer = module.perform(stage, Line(channel), **fields)
    assert isinstance(answer, dict)
    return answer
