"""Several candidates in one race, on a clock that only work moves: the pairs' own models and inputs."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from grader.domain.speed import Measured
from grader.domain.task import Speed, Task
from grader.domain.verdict import Finding, Status, Verdict
from grader.profiling import compare_picture, compare_verb
from grader.referee.fault import FaultError
from grader.referee.pairs import contest
from grader.referee.pairs.pair_problem import PairProblem
from grader.referee.pairs.pair_spec import PairSpec
from grader.referee.pairs.pair_timing import CASE, posed
from grader.referee.session import Session
from grader.referee.side import Reference
from grader.referee.timing import race
from tests.referee.timing.track import Clock, Player, Races, Track

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.referee.problem import Problem, Sides
    from grader.referee.timing.interval import Interval

REFERENCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, n, bias):
        super().__init__()
        self.linear = torch.nn.Linear(n, 4)
        self.more = bias

    def forward(self, x, y, scale):
        spend()
        return [torch.relu(self.linear(x)) + self.more, y * scale]

def get_inputs():
    return [torch.rand(8, 5), torch.rand(8, 4), 2.0]

def get_init_inputs():
    return [5, 0.5]
"""
MINE = REFERENCE.split("def get_inputs")[0].replace("class Model", "class ModelNew")
TASK = Task("a pair", "ModelNew", kind="model", reference_entry="Model")
EAGER = 200e-6


class Both(Player):
    """A player that knows both acts; a call of its file takes ``seconds``."""

    def __init__(self, clock: Clock, file: Path, seconds: float) -> None:
        super().__init__(lambda x: x)
        self.clock = clock
        self.stage.load(str(file))
        vars(self.stage.module)["spend"] = lambda: clock.spend(seconds)


@pytest.fixture
def racer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Makes a pair that is ready to be raced, whose submission's call takes so long."""
    track, numbers = Track(monkeypatch), itertools.count()
    (tmp_path / "reference.py").write_text(REFERENCE)

    def session(seconds: float, text: str, pose: Callable[[Sides], Problem], twin: Any = None) -> Session:
        file = tmp_path / f"mine_{next(numbers)}.py"
        file.write_text(text)
        own = Both(track.clock, file, seconds)
        reference = Both(track.clock, tmp_path / "reference.py", EAGER)
        track.players += [own, reference]
        theirs = Reference(cast("Any", reference), str(tmp_path / "reference.py"))
        return Session(TASK, str(file), lambda: cast("Any", own), theirs, pose, twin=twin)

    def made(seconds: float, text: str = MINE) -> Session:
        spec = PairSpec()
        one = session(
            seconds, text, lambda s: PairProblem(s, spec), twin=lambda pose: session(seconds, text, pose)
        )
        posed(one).open()
        return one

    yield made
    track.close()


SPEED = Speed(CASE, CASE, 1, 2, 2)


def raced(*racers: Session) -> tuple[race.Race, list[Measured | FaultError]]:
    made = race.set_up_race(racers, CASE)
    made.run()
    timings = [contest.Timing(one, SPEED, "a GPU") for one in racers]
    contest.give_speeds(made, timings)
    assert all(isinstance(t.result, Measured | FaultError) for t in timings)
    return made, [cast("Any", t.result) for t in timings]


def against(made: race.Race, one: int, other: int) -> Interval:
    return made.candidates[one].result.against(str(other))


@pytest.mark.thorough
@pytest.mark.slow
def test_three_candidates_are_ranked_by_one_race(racer: Callable[..., Session]) -> None:
    made, speeds = raced(racer(100e-6), racer(150e-6), racer(250e-6))
    # Short calls: three pairs of processes for each of them.
    assert len(made.groups) == 3 and all(len(group) == 3 for group in made.groups)
    found = [s for s in speeds if isinstance(s, Measured)]
    assert len(found) == 3, speeds
    assert [round(s.whole_ratio, 1) for s in found] == [2.0, 1.3, 0.8]
    assert all(s.rounds >= 6 and s.processes == 18 and s.compared > 100 for s in found)
    direct = {(a, b): against(made, a, b) for a in range(3) for b in range(3) if a != b}
    assert direct[0, 1].ratio == pytest.approx(1.5, rel=0.02) and direct[0, 1].outcome == "faster"
    assert direct[2, 0].outcome == "slower"
    work = {"work": {"bytes": 4000, "operations": 800}}
    findings = (Finding("problem", Status.PASSED, evidence=work),)
    verdicts = [
        Verdict("ref", n, "cuda", "a GPU", findings, 1.0, speed=s) for n, s in zip("abc", found, strict=True)
    ]
    entries = [compare_verb.entry(n, v, k) for k, (n, v) in enumerate(zip("abc", verdicts, strict=True))]
    assert [[e.name for e in group] for group in compare_verb.groups(entries, direct)] == [
        ["a"],
        ["b"],
        ["c"],
    ]
    said = compare_verb.as_json(entries, direct)
    assert [c["rank"] for c in said["candidates"]] == [1, 2, 3] and len(said["compared"]) == 6
    svg = compare_picture.svg(entries, "h200")
    assert all(f">{n}: " in svg for n in "abc") and "measured" in svg
    assert re.search(r"eager PyTorch: (199|200)\.\d us", svg)


def test_one_that_stops_working_is_out_and_the_others_go_on(racer: Callable[..., Session]) -> None:
    lazy = MINE.replace(
        "        spend()\n",
        "        spend()\n        self.calls = getattr(self, 'calls', 0) + 1\n"
        "        if self.calls > 150:\n            return [torch.zeros(8, 4), y * scale]\n",
    )
    _, speeds = raced(racer(350e-6), racer(350e-6, lazy))
    good, bad = speeds
    assert isinstance(good, Measured) and good.outcome == "slower"
    assert isinstance(bad, FaultError) and bad.status is Status.WRONG_OUTPUT


def test_one_that_cannot_be_lined_up_is_out_and_the_others_go_on(racer: Callable[..., Session]) -> None:
    def gone() -> None:
        raise FaultError(Status.RAISED, "RuntimeError: no more", dead=True)

    racers = [racer(350e-6), racer(350e-6), racer(700e-6)]
    cast("Any", racers[1]).revive = gone
    timings = [contest.Timing(one, SPEED, "a GPU") for one in racers]
    stages: dict[str, float] = {}
    direct = contest.race_all(dict(enumerate(timings)), stages)
    first, second, third = (timing.result for timing in timings)
    assert isinstance(second, FaultError) and second.message == "RuntimeError: no more"
    assert "candidate" not in second.evidence
    assert isinstance(first, Measured) and isinstance(third, Measured) and set(direct) == {(0, 2), (2, 0)}
    assert direct[0, 2].ratio == pytest.approx(2, rel=0.05) and "rounds" in stages
    assert timings[2].steps["ready"] > 0


@pytest.fixture
def races(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Who is looked at after each race: all that took part and are not out."""
    found: list[list[int]] = []
    begun, examination = Races(monkeypatch), race.CrossExamination

    def seen(rng: Any, pairs: Any, *rest: Any) -> race.CrossExamination:
        found.extend([] for _ in range(begun.begun - len(found)))
        found[-1].append(int(Path(pairs[0].session.path).stem.removeprefix("mine_")))
        return examination(rng, pairs, *rest)

    monkeypatch.setattr(race, "CrossExamination", seen)
    return found


@pytest.mark.thorough
@pytest.mark.slow
def test_claims_that_the_other_clock_refutes_are_out(
    racer: Callable[..., Session], races: list[list[int]]
) -> None:
    """For the second race nobody else waits, and nobody is compared with who is out."""
    honest, liar, other = racer(350e-6), racer(350e-6), racer(700e-6)
    liar.player.claims = lambda seconds: [s / 4 for s in seconds]
    liar.twin = None
    made, speeds = raced(honest, liar, other)
    assert races == [[0, 1, 2], [1]]
    assert not made.candidates[0].result.block_pairs["1"] and len(made.during.calls) > 4
    assert against(made, 0, 2).ratio == pytest.approx(2, rel=0.02)
    assert made.stages["rounds"] > 0 < made.stages["rows"]
    assert isinstance(speeds[0], Measured)
    assert isinstance(speeds[1], FaultError) and speeds[1].status is Status.TAMPERED


def slow(one: Session, blocks: int) -> None:
    """The host does something else for 30 ms in each of the candidate's first blocks."""
    player, left = cast("Any", one.player), iter(range(blocks))
    player.host = lambda: player.clock.spend(30e-3) if next(left, None) is not None else None
    one.twin = None


@pytest.mark.slow
def test_a_host_that_was_busy_in_one_race_is_no_cheat_and_all_race_again(
    racer: Callable[..., Session], races: list[list[int]]
) -> None:
    honest, struck = racer(350e-6), racer(700e-6)
    slow(struck, 13)
    made, speeds = raced(honest, struck)
    first, second = speeds
    assert isinstance(first, Measured) and isinstance(second, Measured)
    assert races == [[0, 1], [1], [0, 1]]
    assert first.claimed and second.claimed and all(c.result.clear for c in made.candidates)
    assert against(made, 0, 1).ratio == pytest.approx(2, rel=0.02)
    assert second.blocks is not None
    assert second.confirmed == len(made.candidates[1].result.groups) == len(second.blocks.submission.walls)


@pytest.mark.thorough
@pytest.mark.slow
def test_of_whom_no_race_can_tell_no_speed_is_claimed(racer: Callable[..., Session]) -> None:
    honest, struck = racer(350e-6), racer(350e-6)
    slow(struck, 10_000)
    player = cast("Any", struck.player)
    player.host = lambda: player.clock.spend(max(0.0, 80e-3 * player.clock.rng.random() - 20e-3))
    _, speeds = raced(honest, struck)
    assert isinstance(speeds[0], Measured) and speeds[0].claimed
    assert isinstance(speeds[1], Measured) and "Too noisy" in speeds[1].why
