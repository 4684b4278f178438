"""What a player can do besides calling with tensors: one module per command, each with ``perform``.

Meanwhile a player may need something that the referee holds (a clock, a memory, a kernel under test).
It asks for it with a :class:`Callback`, in the middle of the command.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.player.stage import Stage
    from grader.protocol.wire import Channel, Json

# Every module of this folder is a command; the name comes from the wire, so it is looked up, never imported.
COMMANDS = frozenset(module.name for module in pkgutil.iter_modules(__path__))


class Callback:
    """The player's way to ask the referee for something."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def ask(self, wants: Any) -> Any:
        """Say what is wanted (JSON values) and wait for the referee's reply."""
        self._channel.send({"answer": {"wants": wants}})
        return self._channel.receive()["reply"]


def perform(stage: Stage, channel: Channel, command: str, **fields: Any) -> Json:
    """Do ``command`` and answer plain data."""
    if command not in COMMANDS:
        raise ValueError(f"there is no command {command!r}")
    module = importlib.import_module(f"grader.player.commands.{command}")
    answer = module.perform(stage, Callback(channel), **fields)
    assert isinstance(answer, dict)
    return answer
