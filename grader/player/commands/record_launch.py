"""Record a launch, and hand over what was recorded: its head as the answer, the rest in the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.simt.runtime import device
from grader.domain import typed_data
from grader.protocol import messages
from grader.protocol.recorded_launch import Answer, Asked

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage
    from grader.protocol.wire import Json

_kept: list[bytes] = []  # between the answer with the head and the request for the data


def perform(stage: Stage, _callback: Callback, act: str, asked: Json | None = None) -> Json:
    """``begin`` a recording; ``head``: what it came to; ``data``: its bytes, into the outbox."""
    recorder = device.ACTIVE[0].recorder
    if act == "begin":
        recorder.begin(typed_data.convert(asked, Asked))
    elif act == "head":
        found = recorder.recorded()
        _kept[:] = [found[1]] if found else []
        return messages.plain(Answer(found[0] if found else None))
    elif act == "data":
        (data,) = _kept
        stage.outbox.map[: len(data)] = data
        _kept.clear()
    return {}
