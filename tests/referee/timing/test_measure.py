"""From the line-up to the last witness: the reference alone, what the card can do, and a second race."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from grader.domain.verdict import Status
from grader.protocol.messages import Facts
from grader.referee.fault import FaultError
from grader.referee.lesson_problem import LessonProblem
from grader.referee.session import Session
from grader.referee.side import Reference
from grader.referee.timing import measure
from grader.referee.timing.measure import measured
from tests.referee.timing.track import CASE, TASK, Player, Track

if TYPE_CHECKING:
    from collections.abc import Callable

CALL = 400e-6  # long enough for one pair of processes


pytestmark = pytest.mark.usefixtures("few_resamples")


class Course:
    """A submission beside a reference that takes ``slow(race)`` times as long while that one is alive."""

    def __init__(self, track: Track, slow: Callable[[int], float]) -> None:
        self.races, own = 0, track.working(CALL)
        self.reference = track.working(0.0, lambda x: self._work(track, slow, x))
        self.session = Session(
            TASK,
            __file__,
            lambda: self._start(own),
            Reference(cast("Any", self.reference), __file__),
            LessonProblem,
        )

    def _start(self, own: Player) -> Any:
        self.races += 1
        own.output = f"race {self.races}. "
        return own

    def _work(self, track: Track, slow: Callable[[int], float], x: Any) -> Any:
        track.clock.spend(CALL * (slow(self.races) if self.session.player else 1.0))
        return x.sigmoid()


def test_a_quiet_race_is_run_once_and_leaves_no_process_of_the_submission(track: Track) -> None:
    course = Course(track, lambda race: 1.0)
    found = measured(course.session, CASE)
    assert course.races == 1 and course.session.player is None and found.processes == 2
    assert found.result.against().outcome == "same" and {"rounds", "alone"} <= set(found.stages)


def test_a_reference_that_was_slow_once_is_no_cheat(track: Track) -> None:
    """As when somebody else used the GPU for a while: the second race counts."""
    course = Course(track, lambda race: 1.5 if race == 1 else 1.0)
    found = measured(course.session, CASE)
    assert course.races == 2 and abs(found.result.against().ratio - 1) < 0.01


def test_a_reference_that_is_slow_whenever_the_submission_is_alive_is_tampering(track: Track) -> None:
    course = Course(track, lambda race: 1.5)
    with pytest.raises(FaultError, match="kept the GPU busy") as caught:
        measured(course.session, CASE)
    assert caught.value.status is Status.TAMPERED and course.races == 2
    assert set(caught.value.evidence) == {"during", "alone"}


def test_no_call_is_quicker_than_the_card(track: Track) -> None:
    course = Course(track, lambda race: 1.0)
    course.session.record.facts = Facts(device="NVIDIA H200")
    assert measured(course.session, CASE, read_bytes=1 << 30, flops=10**11).processes == 2  # 0.2 and 0.1 ms
    course.session.revive()
    for more in ({"read_bytes": 10 << 30}, {"flops": 10**12}):
        with pytest.raises(FaultError, match="H200 needs") as caught:
            measured(course.session, CASE, **more)
        assert caught.value.status in measure.CAUGHT


def test_resting_is_no_death_and_keeps_what_was_printed(track: Track) -> None:
    course = Course(track, lambda race: 1.0)
    for _ in range(6):  # more often than a player may die
        course.session.rest()
        course.session.rest()
        course.session.revive()
    course.session.close()
    assert course.session.record.output == "".join(f"race {n}. " for n in range(1, 8))
