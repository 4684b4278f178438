"""What referee and players say to each other, as lines of JSON in the file that COURSE_WIRE names.

For people who debug the grader; docs/contributing/debugging.md describes the fields. Nothing is written by a
player, and it cannot see the file.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import time
from typing import TYPE_CHECKING

from grader.protocol.wire import Channel, Json, MalformedError

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from grader.protocol.wire import Seconds

VARIABLE = "COURSE_WIRE"


def channel(sock: socket.socket) -> Channel:
    """The referee's end of a conversation, which is written down if that is asked for."""
    place = os.environ.get(VARIABLE, "")
    return LoggedChannel(sock, place) if place else Channel(sock)


class LoggedChannel(Channel):
    """A channel that adds each frame to a file, as it was sent or as it came in, before it is checked."""

    def __init__(self, sock: socket.socket, place: str) -> None:
        super().__init__(sock)
        self._place, self._number = place, next(_numbers())
        _began_s()

    def send(self, message: Json, *, seconds: float | None = None, files: Sequence[int] = ()) -> None:
        """Send one frame."""
        self._add({"from": "referee", "frame": message})
        super().send(message, seconds=seconds, files=files)

    def receive(self, *, seconds: Seconds = None) -> Json:
        """Wait for one frame."""
        try:
            message = super().receive(seconds=seconds)
        except MalformedError as error:
            self._add({"from": "player", "frame": None, "problem": str(error)})
            raise
        self._add({"from": "player", "frame": message})
        return message

    def ended(self, code: int | None, printed: str) -> None:
        """The player is gone: its exit code, if it ended by itself, and what it printed."""
        self._add({"ended": code, "printed": printed})

    def _add(self, line: dict[str, object]) -> None:
        """One write a line: the players of a grading are asked from several threads."""
        whole = {"at": round(time.monotonic() - _began_s(), 6), "player": self._number} | line
        data = (json.dumps(whole) + "\n").encode()
        file = os.open(self._place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, data)
        finally:
            os.close(file)


@functools.cache
def _numbers() -> itertools.count[int]:
    return itertools.count()


@functools.cache
def _began_s() -> float:
    return time.monotonic()
