"""The lesson's own kernels, right and wrong, in a player on the CPU back end, memory checks on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

from grader.domain.verdict import Status
from grader.feedback import memory
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.protocol.wire import Json
    from grader.referee.process.player_process import Player

MAX_RESTARTS = 20


class Refused(TypedDict):
    """Why a call has no result; ``memory``: the memory checks found something."""

    raised: str
    memory: NotRequired[bool]


class KernelServer:
    """Calls kernels of the file at ``path``. The file is the course's own, the arguments a student's.

    Its player is forked: a wrong kernel ends it, often several times in one grading.
    """

    def __init__(self, path: str) -> None:
        self._path, self._starts = path, 0
        self._player: Player | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def call(self, entry: str, wants: Any) -> Refused | Json:
        """Call ``entry`` with the parcels in ``wants``.

        Answers what the player does, ``result`` and ``after`` (``grader.player.commands.kernel_call``).
        """
        if not isinstance(wants, dict) or not isinstance(wants.get("args"), list):
            return {"raised": "the call does not fit the protocol"}
        player = self._running()
        fields = {"entry": entry, "args": wants["args"], "autocast": bool(wants.get("autocast"))}
        try:
            answer = player.ask("command", player.limits.call, command="kernel_call", **fields)
        except FaultError as fault:
            if fault.dead:
                self._stop()
            message = memory.describe(fault.seen[0]) if fault.seen else fault.message
            return {"raised": message, "memory": bool(fault.seen)}
        if answer.findings:
            return {"raised": memory.describe(answer.findings[0]), "memory": True}
        return answer.data

    def _running(self) -> Player:
        if self._player is None:
            from grader.referee import builder  # a GPU's grading does not load it otherwise
            from grader.referee.process import forkserver
            from grader.referee.process.player_process import Limits, Player

            self._starts += 1
            if self._starts > MAX_RESTARTS:
                raise FaultError(Status.TIMEOUT, "The kernel under test has crashed too often.")
            builder.prepare(lambda _: None)
            limits = Limits()
            build = builder.SimtBuilder(limits.build)
            sees, parent = (Path(self._path),), forkserver.one("simt")
            self._player = Player("simt", limits, sees=sees, build=build, forkserver=parent)
            self._player.ask("load", limits.load, path=self._path)
        return self._player

    def _stop(self) -> None:
        if self._player is not None:
            self._player.stop()
            self._player = None
