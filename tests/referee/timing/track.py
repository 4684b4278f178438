"""A race without a GPU: players in this process, and one clock that only work moves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch

from grader.domain.task import Case, Task, Tensor
from grader.player.commands import race_blocks as act
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.connection import Answer
from grader.referee.session import Session
from grader.referee.side import Reference
from grader.referee.timing import gpu_state, race, setup
from tests.referee.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from grader.referee.timing.race_result import RaceResult

CASE = Case("speed", (Tensor((16, 32)),), "", 0)
TASK = Task("timed", "work", (CASE,))
FLUSH, LOOP, STEP = 60e-6, 10e-6, 100e-6


class Clock:
    """Seconds since the race began; whoever works adds to it."""

    def __init__(self) -> None:
        self.now, self.rng = 0.0, np.random.default_rng(1)

    def spend(self, seconds: float, noise: float = 0.002) -> None:
        """Work for about so long."""
        self.now += seconds * (1 + noise * float(self.rng.standard_normal()))


class Event:
    """A CUDA event on that clock."""

    clock: Clock

    def __init__(self, enable_timing: bool = True) -> None:
        self.at = 0.0

    def record(self, *_: Any) -> None:
        """Now."""
        self.at = self.clock.now


class Player(InProcess):
    """Answers what a player's process would, and takes time for it."""

    backend = "cuda"

    def __init__(self, work: Callable[[torch.Tensor], Any]) -> None:
        super().__init__(work=work)
        self.claims: Callable[[list[float]], list[float]] = lambda seconds: seconds
        self.host: Callable[[], None] = lambda: None  # what else the machine does during a block
        self.asked = 0.5  # of a block's time until the host has asked for all; all of it if calls wait

    def ask(self, do: str, seconds: float, *, stage: str = "", **fields: Any) -> Answer:
        """One request."""
        if do != "command":
            return super().ask(do, seconds, stage=stage, **fields)
        fields.pop("command")
        data = act.perform(self.stage, cast("Any", None), **fields)
        if "seconds" in data:
            data["seconds"] = self.claims(data["seconds"])
            self.host()
        if "asked" in data:
            data["asked"] *= self.asked
        return Answer(data)

    def stop(self) -> None:
        """Nothing runs; another race uses it again."""


class Track:
    """A course of its own for one test: ``submission`` and ``reference`` take ``seconds`` a call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.players: list[Player] = []
        event = type("Event", (Event,), {"clock": self.clock})
        loop = lambda *_: self.clock.spend(LOOP)  # noqa: E731
        for name, value in {
            "Event": event, "record": event.record, "elapsed": lambda a, b: 1e3 * (b.at - a.at),
            "synchronize": loop, "now": lambda: self.clock.now,
            "overwrite": lambda _: self.clock.spend(FLUSH), "reset_persisting": lambda: None,
            "empty_cache": lambda: None, "elsewhere": list, "keep_busy": self.keep_busy,
            "size_for": lambda _: (256, STEP),
        }.items():  # fmt: skip
            monkeypatch.setattr(act, name, value)
        monkeypatch.setattr(race.time, "monotonic", lambda: self.clock.now)
        # One after the other: there is one clock, and a seed makes the same race each time.
        monkeypatch.setattr(setup, "at_once", lambda *jobs: [job() for job in jobs])

    def keep_busy(self, size: int, steps: int, seed: int, device: str) -> torch.Tensor:
        """Work before calls that follow each other; its result depends on how much it was and on the seed."""
        self.clock.spend(steps * STEP)
        return torch.tensor(1.0 + steps + size + seed % 1000, dtype=torch.float64)

    def working(self, seconds: float, work: Callable[[torch.Tensor], Any] = torch.sigmoid) -> Player:
        """A player whose ``work`` takes that long."""

        def call(x: torch.Tensor) -> Any:
            self.clock.spend(seconds)
            return work(x)

        self.players.append(Player(call))
        return self.players[-1]

    def close(self) -> None:
        """Give the players' memory back, whose files would be open until garbage is collected."""
        for player in self.players:
            player.inbox.close()
            player.outbox.close()

    def session(self, own: Player, reference: Player) -> Session:
        """Both, ready to be raced."""
        theirs = Reference(cast("Any", reference), __file__)
        return Session(TASK, str(Path(__file__)), lambda: cast("Any", own), theirs, LessonProblem)

    def run(self, own: Player, reference: Player) -> RaceResult:
        """Set up and race."""
        session = self.session(own, reference)
        return raced(session, setup.set_up(session, CASE))


class Races:
    """Counts the races that begin: each asks for the GPU's state round by round, then for its range."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.running = 0, False
        state, ranges = gpu_state.state, gpu_state.ranges

        def asked() -> Any:
            self.begun, self.running = self.begun + (not self.running), True
            return state()

        def ended(samples: list[Any]) -> Any:
            self.running = False
            return ranges(samples)

        monkeypatch.setattr(gpu_state, "state", asked)
        monkeypatch.setattr(gpu_state, "ranges", ended)


def raced(session: Session, pair: setup.ProcessPair) -> RaceResult:
    """A race of one candidate and one pair of processes."""
    one = race.Race([session], [[pair]])
    one.run()
    return one.result()
