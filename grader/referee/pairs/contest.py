"""Candidates for one problem: graded several at a time and, on a GPU, raced together once all are there."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.backends import detect
from grader.domain.task import Speed
from grader.domain.verdict import Status, Verdict
from grader.referee.fault import FaultError
from grader.referee.job import Job
from grader.referee.pairs import pair_timing, several
from grader.referee.pairs.several import Hear, Place, Several
from grader.referee.sandbox import watcher
from grader.referee.timing import race_many
from grader.referee.timing.interval import Interval

if TYPE_CHECKING:
    from grader.referee.session import Session

Result = dict[str, Any] | FaultError | None


@dataclass(slots=True)
class _Racer:
    """A candidate that waits to be raced; ``steps``: seconds of its own line-up, by step."""

    session: Session
    what: Speed
    device: str
    result: Result = None
    steps: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contest:
    """``verdicts`` in the order given; ``direct[i, j]``: how many times as fast as j candidate i is.

    ``stages``: seconds of the whole; ``each``: of each candidate, its line-up among them.
    """

    verdicts: list[Verdict]
    direct: dict[tuple[int, int], Interval]
    stages: dict[str, float] = field(default_factory=dict)
    each: list[dict[str, float]] = field(default_factory=list)


def _nobody(_: Place) -> None:
    """Nobody listens."""


def contest(jobs: Sequence[Job], hear: Hear = _nobody, most: int = 0) -> Contest:
    """Grade all, ``most`` at a time (0: as many as fit here); on a GPU race those that passed.

    ``hear`` is told of each that is graded, in this thread, in whatever order that happens. What a grading
    raises is raised here once all have ended, the first in the order given.
    """
    kind = jobs[0].choice.name
    most = most or several.at_once(
        kind, os.cpu_count() or 1, detect.gpu_bytes(), watcher.memory_bytes(), watcher.memory_limit()
    )
    stages: dict[str, float] = {}
    direct: dict[tuple[int, int], Interval] = {}
    begun = time.monotonic()

    def wait(place: Place, session: Session) -> dict[str, Any] | None:
        """The jobs' timer: hands the match over, and comes back when the race is over."""
        try:
            what = pair_timing.prepared(pair_timing.posed(session))
        except FaultError as fault:
            return {"kind": "none", "why": fault.message}
        place.timing = _Racer(session, what, session.record.facts.device)
        group.arrived(place)
        place.gone.wait()
        return _said(place.timing.result)

    with Several(jobs, most, wait if kind == "cuda" else None) as group:
        group.wait(hear)
        stages["graded"] = time.monotonic() - begun
        direct = _race([p for p in group.places if p.timing], stages)
    verdicts = [place.verdict for place in group.places if place.verdict]
    return Contest(verdicts, direct, stages, [_seconds(place) for place in group.places])


def _said(result: Result) -> dict[str, Any] | None:
    if not isinstance(result, FaultError):
        return result
    if result.status in (Status.NOT_GRADABLE, Status.NOT_RUN, Status.TIMEOUT):
        return {"kind": "none", "why": result.message}
    raise result


def _race(places: list[Place], stages: dict[str, float]) -> dict[tuple[int, int], Interval]:
    """Give each that waits its result; the comparisons of two candidates by their numbers.

    One that fails when it is lined up is out, and the others are lined up again.
    """
    meeting = None
    clock = time.monotonic()
    while places and meeting is None:
        try:
            meeting = race_many.meet([p.timing.session for p in places], pair_timing.CASE)
        except FaultError as fault:
            number = fault.evidence.pop("candidate", None)
            if number is None:
                return _none(places, fault)
            places.pop(number).timing.result = fault
    if meeting is None:
        return {}
    stages["line up"] = time.monotonic() - clock
    for number, place in enumerate(places):
        for start in meeting.at(number):
            steps = place.timing.steps
            steps |= {what: steps.get(what, 0.0) + seconds for what, seconds in start.stages.items()}
    try:
        race_many.run(meeting)
        stages |= meeting.stages
        clock = time.monotonic()
        found = race_many.speeds(meeting, [p.timing.what for p in places], places[0].timing.device)
        stages["reference alone"] = time.monotonic() - clock
    except FaultError as fault:
        return _none(places, fault)
    for place, result in zip(places, found, strict=True):
        place.timing.result = result
    direct = {}
    for a, one in enumerate(places):
        heat = meeting.heats[a]
        for b, other in enumerate(places):
            pairs = heat.pairs.get(str(b), [])
            if a != b and pairs and len(pairs) == len(heat.groups) == len(heat.kept):
                direct[one.number, other.number] = heat.against(str(b))
    return direct


def _none(places: list[Place], fault: FaultError) -> dict[tuple[int, int], Interval]:
    """The whole race came to nothing."""
    for place in places:
        place.timing.result = FaultError(Status.NOT_GRADABLE, f"The race did not end: {fault.message}")
    return {}


def _seconds(place: Place) -> dict[str, float]:
    """Where its time went; what it waited for others while they were graded and raced is left out."""
    own = dict(place.verdict.stages) if place.verdict else {}
    if place.timing:
        own.pop("speed", None)
        own |= {f"line up: {what}": seconds for what, seconds in place.timing.steps.items()}
    return {"waited": place.waited, **own}
