"""A limit of time is about the player: what else the machine does takes nothing from it."""

import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.process.player_process import Limits, Player
from grader.referee.process.time_limit import MOST, TimeLimit
from grader.referee.session import Session
from tests.referee.plain import LIMITS, grade

# A process for each other's share: with three beside it, who computes has a quarter of one processor.
BESIDE = 3
TO_ONE = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"


class Machine:
    """A clock, and a player that has ``share`` of a processor."""

    def __init__(self, share: float) -> None:
        self.share, self.now, self.used = share, 100.0, 7.0

    def clock(self) -> float:
        """Seconds."""
        return self.now

    def processor_s(self) -> float:
        """Seconds of a processor."""
        return self.used

    def passes(self, seconds: float) -> None:
        """So much time, of which the player has its share."""
        self.now += seconds
        self.used += seconds * self.share

    def limit(self, seconds: float) -> TimeLimit:
        """From now on."""
        return TimeLimit(seconds, self.processor_s, self.clock)

    def lasts(self, limit: TimeLimit) -> float:
        """How long a player waits that never answers."""
        began = self.now
        while (left := limit.left_s()) > 0:
            self.passes(left)
        return self.now - began


@pytest.mark.parametrize(
    ("share", "seconds"),
    [(1.0, 20), (2.0, 20), (0.5, 40), (0.25, 80), (0.1, 20 * MOST), (0.0, 20), (0.01, 20)],
    ids=["alone", "two threads", "half", "a quarter", "a tenth", "asleep", "nearly asleep"],
)
def test_who_has_a_part_of_a_processor_has_longer(share: float, seconds: float) -> None:
    machine = Machine(share)
    assert machine.lasts(machine.limit(20)) == pytest.approx(seconds, abs=1e-6)


def test_who_falls_asleep_later_gets_no_more() -> None:
    machine = Machine(0.5)
    limit = machine.limit(20)
    machine.passes(25 if limit.left_s() else 0)
    assert limit.left_s() > 0
    machine.share = 0.0
    assert machine.lasts(limit) <= 1.0


def test_a_pause_costs_and_gains_nothing() -> None:
    machine = Machine(0.5)
    limit = machine.limit(20)
    machine.passes(5)
    limit.pause()
    machine.passes(1000)
    limit.resume()
    assert machine.lasts(limit) == pytest.approx(35)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_submission_is_not_late_because_the_machine_is_busy(tmp_path: Path) -> None:
    works = f"""
{TO_ONE}
work = [{LIMITS.call * 0.4}]
def double(x):
    end = time.process_time() + (work.pop() if work else 0)
    while time.process_time() < end:
        pass
    return 2 * x
"""
    busy = [sys.executable, "-c", f"import os\n{TO_ONE}\nwhile True: pass"]
    beside = [subprocess.Popen(busy, start_new_session=True) for _ in range(BESIDE)]
    try:
        verdict = grade(tmp_path, works, forked=True)
    finally:
        for process in beside:
            process.kill()
            process.wait()
    assert Status.TIMEOUT not in {f.status for f in verdict.findings}
    assert verdict.status is Status.PASSED


@pytest.mark.slow
def test_an_answer_that_nobody_waits_for_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    """SIGTERM ends a grading by an exception. It comes through, and no honest file is told that it cheats."""
    file = tmp_path / "mine.py"
    file.write_text("import time\ntime.sleep(2)\n", "utf-8")
    player = Player("cpu", Limits(), sees=(file,))
    asked = []
    session = SimpleNamespace(player=player, ask=lambda do, **fields: asked.append((do, fields)))
    before = signal.signal(signal.SIGALRM, lambda *_: sys.exit(143))
    try:
        player.ready()
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(SystemExit), Session.counting(session):  # type: ignore[arg-type]
            player.ask("load", 20.0, path=str(file), folders=[])
        assert player.stopped and asked == [("count", {"on": True})]
        with pytest.raises(FaultError) as next_one:
            player.ask("count", 20.0, on=False)
        assert next_one.value.status is not Status.TAMPERED
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        player.stop()
