"""Pairs of processes for a race as a grading makes them: real players, each in its sandbox."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.backends.detect import Choice
from grader.domain.submission import read
from grader.domain.task import Case, Task, Tensor
from grader.protocol.messages import BuildReply
from grader.referee import peers
from grader.referee.job import Job
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.player_process import Limits, Player
from grader.referee.session import Session
from grader.referee.side import Reference
from grader.referee.timing import race, setup
from grader.referee.timing.plan import Plan
from grader.referee.timing.timed_results import fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

CASE = Case("speed", (Tensor((64, 64), device="cpu"),), "", 0)
TASK = Task("timed", "work", (CASE,))
PLAN = Plan(2, 4, flush_bytes=1 << 16)
REFERENCE = "import torch\n\n\ndef work(x):\n    return torch.sigmoid(x)\n"
OWN = "import torch\n\n\ndef work(x):\n    return 1 / (1 + torch.exp(-x))\n"
NO_GPU = Path(__file__).parent / "timing" / "no_gpu.py"


class Grading:
    """What ``check`` holds when the clock begins: a session, and peers to ask for."""

    def __init__(self, folder: Path) -> None:
        paths = [folder / name for name in ("reference.py", "mine.py")]
        for path, text in zip(paths, (REFERENCE, OWN), strict=True):
            path.write_text(text)
        self.job = Job("test", TASK, paths[0], read(paths[1]), Choice("cuda", "test"), Limits())
        self.players: list[Player] = []
        own = lambda: player("cuda", Limits(), sees=(paths[1],))  # noqa: E731
        self.peers = peers.PeerProcesses(self.job, own, lambda _: BuildReply(ordinary="a test"))
        first = [player("cuda", Limits(), sees=(path,)) for path in paths]
        self.players += first
        self.session = Session(
            TASK,
            str(paths[1]),
            lambda: first[1],
            Reference(first[0], str(paths[0])),
            LessonProblem,
            twin=self.peers.twin,
        )
        self.session.reference.load()
        first[1].ask("load", 20.0, path=str(paths[1]), folders=[])

    def close(self) -> None:
        """End all."""
        self.peers.stop()
        for one in self.players:
            one.stop()


def player(backend: str, limits: Limits, *, sees: tuple[Path, ...] = (), **more: object) -> Player:
    """A player with this computer for a GPU."""
    return Player("cpu", limits, sees=(*sees, NO_GPU), wrap=(sys.executable, str(NO_GPU)))


@pytest.fixture
def grading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grading]:
    monkeypatch.setattr(peers, "Player", player)
    made = Grading(tmp_path)
    yield made
    made.close()


@pytest.mark.thorough
@pytest.mark.slow
def test_a_twin_that_was_begun_is_the_one_that_is_given(grading: Grading) -> None:
    """Both of its processes run before it is asked for; the next twin's are started when it is."""
    grading.peers.begin(1)
    (begun,) = (pair.result() for pair in grading.peers._ahead)
    first, second = (grading.peers.twin(LessonProblem) for _ in range(2))
    assert (first.reference.player, first.player) == begun
    assert grading.peers._players[2:] == [second.reference.player, second.player]
    for session in (first, second):
        assert session.player is not None and session.player.ask("load", 20.0, path=session.path, folders=[])
    first.drop()
    first.revive()  # after a death it is a new process, not the one that has died
    assert first.player is grading.peers._players[4]


@pytest.mark.thorough
@pytest.mark.slow
def test_both_processes_of_a_twin_are_started_before_one_is_waited_for(
    grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    made, ready = peers.Player, Player.ready

    def started(*words: object, **more: object) -> Player:
        seen.append("started")
        return made(*words, **more)  # type: ignore[arg-type]

    def waited(self: Player) -> object:
        seen.append("waited for")
        return ready(self)

    monkeypatch.setattr(peers, "Player", started)
    start = grading.peers._start
    monkeypatch.setattr(grading.peers, "_start", lambda: seen.append("started") or start())
    monkeypatch.setattr(Player, "ready", waited)
    grading.peers.twin(LessonProblem)
    assert seen == ["started", "started", "waited for", "waited for"]


@pytest.mark.thorough
@pytest.mark.slow
def test_all_processes_end_those_too_that_nobody_asked_for(grading: Grading) -> None:
    grading.peers.begin(1)
    grading.peers.twin(LessonProblem)
    grading.peers.begin(1)
    grading.peers.stop()
    assert all(player._stopped for player in grading.peers._players) and len(grading.peers._players) == 4


@pytest.mark.thorough
@pytest.mark.slow
def test_the_pairs_of_a_race_are_all_new_and_live_until_it_is_over(
    grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "make_plan", lambda *_, **__: PLAN)
    pairs = [pair for (pair,) in race.set_up_race([grading.session], CASE).groups]
    assert len(pairs) == PLAN.pairs_for(pairs[0].eager_s) == 3
    contenders = [(pair, each) for pair in pairs for each in (pair.submission, pair.reference)]
    assert len({id(p) for p in [*(each.player for _, each in contenders), *grading.players]}) == 8
    for pair, each in contenders:
        each.run_block([0, 1, 0], 7, flushes=pair.flushes, fresh=("memory", "events"))
        assert len(each.blocks.calls[-1]) == 3
    told = [[call[0] for call in fetch(each, [0, 1, 2], pair.outputs)] for pair, each in contenders]
    for others in told[1:]:  # the same inputs for all
        np.testing.assert_allclose(others, told[0], rtol=1e-5)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_round_of_each_pair_compares_every_result(
    grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By real processes and threads: some are prepared while the results of others travel."""
    monkeypatch.setattr(setup, "make_plan", lambda *_, **__: PLAN)
    one = race.set_up_race([grading.session], CASE)
    for _ in range(2):
        one._round_of_each(one.playing, drain=False)
    result = one.result()
    assert result.compared == 2 * 3 * 2 * PLAN.calls
    assert result.groups == [0, 0, 1, 1, 2, 2] * 2
    assert {len(pairs) for name, pairs in result.block_pairs.items() if name != "0"} == {12}
