"""More processes for the clock: the same pair of files once more, and the course's own solution."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import cache, lessons
from grader.domain.errors import BadInputError
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.process.player_process import Player
from grader.referee.session import Session
from grader.referee.side import Reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.referee.job import Job
    from grader.referee.problem import Problem, Sides
    from grader.referee.process.connection import Builder


class PeerProcesses:
    """Starts what a race of ``job`` asks for, and ends all of it.

    ``start`` makes a submission's player; ``build`` compiles for the course's own solution.
    """

    def __init__(self, job: Job, start: Callable[[], Player], build: Builder) -> None:
        self._job, self._start, self._build = job, start, build
        self._players: list[Player] = []
        self._lock = threading.Lock()

    def twin(self, pose: Callable[[Sides], Problem]) -> Session:
        """Reference and submission in two new processes, both loaded, for the problem that ``pose`` makes."""
        job = self._job
        player = self._keep(self._player(job.reference, *job.reference_beside))
        reference = Reference(player, str(job.reference))
        reference.load()
        path, start = str(job.submission.path), lambda: self._keep(self._start())
        session = Session(job.task, path, start, reference, pose, folders=tuple(job.folders))
        session.load()
        return session

    def solution(self) -> Player:
        """The solution of the lesson, loaded."""
        try:
            path = lessons.find(self._job.lesson[:2]).solution
        except BadInputError as error:
            raise FaultError(Status.NOT_GRADABLE, "Only a lesson has a solution to race against.") from error
        player = self._keep(self._player(path, env=cache.extensions(path.read_text())))
        player.ask("load", player.limits.load, path=str(path))
        return player

    def kill(self) -> None:
        """Kill them all, from any thread."""
        with self._lock:
            for player in self._players:
                player.kill()

    def stop(self) -> None:
        """End them all."""
        for player in self._players:
            player.stop()

    def _player(self, *files: Path, env: dict[str, str] | None = None) -> Player:
        env = env or {}
        writes = tuple(map(Path, env.values()))
        job = self._job
        return Player(
            "cuda", job.limits, sees=files, writes=writes, env=env, mode=job.options.sandbox,
            build=self._build, forkserver=job.forkservers.get("cuda"),
        )  # fmt: skip

    def _keep(self, player: Player) -> Player:
        with self._lock:
            self._players.append(player)
        return player
