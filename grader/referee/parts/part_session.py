"""Where a part meets the submission: it sends the player commands, and serves what the player asks back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import Finding, Status
from grader.feedback.look import python_source
from grader.referee.fault import FaultError

if TYPE_CHECKING:  # a list of lessons needs none of it, and tasks import this
    import numpy as np

    from grader.domain.part import Check
    from grader.referee.process.player_process import Player
    from grader.referee.session import Session

Serve = Callable[[Any], Any]
MAX_QUESTIONS = 100_000
MAX_COMMAND_S = 60.0


class PartSession:
    """The submission's player, and the referee's means to judge it. Everything the player says is a claim."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def grading(self) -> Session:
        """The grading this part belongs to, for parts that make ordinary calls of their own."""
        return self._session

    @property
    def rng(self) -> np.random.Generator:
        """Seeded by the operating system; the submission never sees it."""
        return self._session.rng

    @property
    def student(self) -> str:
        """Whose work this is, if the caller has said so, else ""."""
        return self._session.student

    def line_of(self, name: str, *, result: bool = False) -> int:
        """The line of the submission that defines ``name``, a function, class or variable; 0 if none does.

        ``result``: of a function the line of its `return`, if there is only one.
        """
        return python_source.line_of(self._session.source, name, result=result)

    def line_of_test(self, entry: str, args: tuple[object, ...]) -> str:
        """ "Line 12: " for the line where the test ``entry`` is about ``args``; "" if there is none."""
        line = python_source.line_of_value(self._session.source, args[0]) if args else 0
        line = line or python_source.line_of(self._session.source, entry)
        return f"Line {line}: " if line else ""

    def calls_in(self, name: str) -> python_source.CallsInside | None:
        """What the submission's function of that name calls; None if there is none."""
        return python_source.calls_in(self._session.source, name)

    def never_fails(self, entry: str) -> tuple[str, str]:
        """Why the test ``entry`` cannot fail where it should, and what to do; twice "" if it can."""
        if line := python_source.hands_back(self._session.source, entry):
            said = f"{entry}() hands back a value here, which is ignored: a test fails only by an exception."
            return f"Line {line}: {said}", "Write `assert` in place of `return`."
        line = python_source.never_fails(self._session.source, entry)
        if not line:
            return "", ""
        said = (
            f"Line {line}: {entry}() has no assert and raises nothing, so it passes whatever the kernel does."
        )
        return said, "A comparison alone does nothing: write `assert` in front of it."

    @property
    def backend(self) -> str:
        """The back end of the submission's player: "cuda" or "simt"."""
        return self._player().backend

    def command(self, command: str, serve: Serve | None = None, **fields: Any) -> dict[str, Any]:
        """Have the player do ``command`` (a module of :mod:`grader.player.commands`) and return its claims.

        ``serve`` answers what the command asks back meanwhile. Raises FaultError, and for a submission
        that asks without end one with status ``timeout``.
        """
        player, begun, asked = self._player(), time.monotonic(), 0
        answer = player.ask("command", player.limits.call, command=command, **fields)
        while "wants" in answer.data:
            asked += 1
            if serve is None or asked > MAX_QUESTIONS or time.monotonic() - begun > MAX_COMMAND_S:
                self._end()
                message = f"It had not finished after {asked:,} requests and was stopped."
                raise FaultError(Status.TIMEOUT, message)
            try:
                reply = serve(answer.data["wants"])
            except BaseException:
                self._end()  # it is in the middle of its command and would take the next request for a reply
                raise
            answer = player.ask("command", player.limits.call, command="resume", reply=reply)
        return answer.data

    def fallen(self, check: Check, fault: FaultError) -> Finding:
        """A fault as the finding of ``check``; a player that has died is replaced when it is next needed."""
        if fault.dead:
            self._session.lost(fault)
        return fault.finding(check.name, check.points)

    def _player(self) -> Player:
        self._session.revive()
        assert self._session.player is not None
        return self._session.player

    def _end(self) -> None:
        self._session.drop()
