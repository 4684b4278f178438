"""Waits for a player's answer: which messages may come, how often, and for how long.

Whatever arrives, this ends in an :class:`Answer`, a fault, or an error of the wire, and within its time.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback import memory
from grader.protocol import claims, messages, wire
from grader.protocol.messages import BuildReply, Launch, MemoryFinding
from grader.referee.fault import FaultError, from_error
from grader.referee.process.time_limit import TimeLimit

if TYPE_CHECKING:
    from grader.protocol.wire import Json

Builder = Callable[[object], BuildReply]
MAX_BUILDS = 100


@dataclass(slots=True)
class Answer:
    """What a player answered, and what its back end observed meanwhile. All of it is claims."""

    data: Json
    findings: tuple[MemoryFinding, ...] = ()
    launches: tuple[Launch, ...] = ()


class Connection:
    """The referee's end of the connection.

    ``build`` compiles for the player, if that is the referee's work here. ``compiles`` says that the player
    may compile what is left to it, and tells when. All of its building may take ``build_seconds`` together.
    ``shown`` gives what it says the paths that whoever submitted the file knows. ``by_player``: whether the
    player has compiled anything itself. ``processor_s``: seconds of a processor that it has had so far.
    """

    def __init__(
        self,
        channel: wire.Channel,
        build: Builder | None,
        build_seconds: float,
        *,
        compiles: bool = False,
        shown: Callable[[Json], Json] = lambda said: said,
        processor_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.channel = channel
        self.seconds_building = 0.0
        self.compile_error: FaultError | None = None
        self.building = False
        self.by_player = False
        self.files: tuple[int, ...] = ()  # open ones, for the next request
        self._build, self._build_limit_s, self._compiles = build, build_seconds, compiles
        self._shown, self._processor_s = shown, processor_s
        self._builds = 0
        self._turn: int | None = None

    def ask(self, message: Json, seconds: float) -> None:
        """Send a request, and the files that are to go with it.

        Its answer must repeat a number that cannot be known before: none comes early.
        """
        self._turn = secrets.randbits(48)
        self.channel.send(message | {"turn": self._turn}, seconds=seconds, files=self.files)
        self.files = ()

    def expect(self, stage: str, seconds: float, key: str) -> Answer:
        """The next answer, which is the message with ``key``; ``seconds`` do not count building."""
        limit = waits = TimeLimit(seconds, self._processor_s)
        self.building, since = False, 0.0
        while True:
            message = self._shown(self.channel.receive(seconds=waits.left_s))
            now = time.monotonic()
            if "build" in message and (self._build or self._compiles) and not self.building:
                limit.pause()
                reply = self._compile(message["build"]) if self._build else BuildReply(ordinary="no builder")
                self.seconds_building += time.monotonic() - now
                limit.resume()
                with contextlib.suppress(wire.WireError):
                    self.channel.send(messages.plain(reply), seconds=10)
            elif message.get("notice") == "build_begins" and self._compiles and not self.building:
                limit.pause()
                self.building, self.by_player, since = True, True, now
                waits = TimeLimit(max(1.0, self._build_limit_s - self.seconds_building), self._processor_s)
            elif message.get("notice") == "build_ends" and self.building:
                # What was left before it began is left now: notices win no time.
                limit.resume()
                self.building, waits = False, limit
                self.seconds_building += now - since
            elif message.get("turn") != self._turn:
                raise wire.MalformedError("an answer to no question")
            elif isinstance(message.get("error"), dict):
                raise _fault(message, stage)
            elif isinstance(message.get(key), dict):
                seen = claims.observed(message)
                return Answer(claims.check(stage, message[key]), seen.findings, seen.launches)
            else:
                raise wire.MalformedError("an answer of no known kind")

    def _compile(self, request: object) -> BuildReply:
        assert self._build is not None
        self._builds += 1
        try:
            if self._builds > MAX_BUILDS or self.seconds_building > self._build_limit_s:
                text = (
                    f"No more is built: a file may build {MAX_BUILDS} times, for {self._build_limit_s:.0f} s "
                    "in all. Build each extension once, when the file is imported."
                )
                raise FaultError(Status.TIMEOUT, text)
            return self._build(request)
        except FaultError as fault:
            self.compile_error = self.compile_error or fault
            return BuildReply(message=fault.message)


def _fault(message: Json, stage: str) -> FaultError:
    """The exception that a player reports, with what its back end saw."""
    fault, seen = from_error(message["error"], stage), claims.observed(message).findings
    if fault.status is Status.RAISED:
        # The text of a refused call shows its arguments, and so copies a result not yet written.
        seen = tuple(f for f in seen if f.kind != "output-not-written")
    endless = [f for f in seen if f.kind == "step-budget"]
    if endless and fault.status is Status.TIMEOUT:
        fault.message = memory.describe(endless[0])
    return fault.with_findings(seen)
