"""More processes for the clock: the same pair of files once more, and the course's own solution."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
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
    from grader.referee.process.pool_client import PoolConnection


class PeerProcesses:
    """Starts what a race of ``job`` asks for, and ends all of it.

    ``start`` makes a submission's player; ``build`` compiles for the course's own solution; in ``pool``
    players may wait for it.
    """

    def __init__(
        self, job: Job, start: Callable[[], Player], build: Builder, pool: PoolConnection | None = None
    ) -> None:
        self._job, self._start, self._build, self._waiting = job, start, build, pool
        self._players: list[Player] = []
        self._ahead: list[Future[tuple[Player, Player]]] = []  # started, and not asked for yet
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor()  # of threads that start processes, which takes a sandbox a while

    def begin(self, count: int) -> None:
        """Start the processes of so many twins, which will be asked for; waits for nothing."""
        with self._lock:
            self._ahead += [self._pool.submit(self._pair) for _ in range(count)]

    def twin(self, pose: Callable[[Sides], Problem]) -> Session:
        """Reference and submission in two new processes, both loaded, for the problem that ``pose`` makes.

        Both are started before either is waited for: each imports PyTorch for seconds.
        """
        with self._lock:
            ahead = self._ahead.pop() if self._ahead else None
        player, own = ahead.result() if ahead else self._pair()
        job, first = self._job, iter([own])
        reference = Reference(player, str(job.reference))
        reference.load()
        path, folders = str(job.submission.path), tuple(job.folders)
        start = lambda: next(first, None) or self._keep(self._start())  # noqa: E731
        session = Session(job.task, path, start, reference, pose, folders=folders)
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
        """End them all, and wait for that: the driver takes a while to take a process's memory apart."""
        self._pool.shutdown()
        with ThreadPoolExecutor(max(1, len(self._players))) as pool:
            list(pool.map(lambda player: player.stop(), self._players))

    def _pair(self) -> tuple[Player, Player]:
        """A reference's and a submission's process, started at the same time."""
        job = self._job
        reference = self._keep(self._player(job.reference, *job.reference_beside))
        return reference, self._keep(self._start())

    def _player(self, *files: Path, env: dict[str, str] | None = None) -> Player:
        env = env or {}
        writes = tuple(map(Path, env.values()))
        job = self._job
        return Player(
            "cuda", job.limits, sees=files, writes=writes, env=env, mode=job.options.sandbox,
            build=self._build, pool=self._waiting,
        )  # fmt: skip

    def _keep(self, player: Player) -> Player:
        with self._lock:
            self._players.append(player)
        return player
