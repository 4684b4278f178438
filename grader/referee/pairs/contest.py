"""Candidates for one problem: graded several at a time and, on a GPU, raced together once all are there."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import gpu_card
from grader.domain.speed import NoSpeed
from grader.domain.speed import Speed as VerdictSpeed
from grader.domain.verdict import Status, Verdict
from grader.referee.fault import FaultError
from grader.referee.gpu_turns import alone
from grader.referee.pairs import pair_timing, several
from grader.referee.pairs.several import Hear, Place, Several
from grader.referee.sandbox import watcher
from grader.referee.timing import cross_check, race
from grader.referee.timing.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.task import Speed
    from grader.referee.job import Job
    from grader.referee.session import Session
    from grader.referee.timing.race import Race

METHOD = (
    "one race: blocks of calls of all candidates and of eager PyTorch in turns, in an order drawn for each "
    "round and then reversed, each in a process of its own; cold cache; CUDA events against the referee's "
    "wall clock, also of calls in rows; every timed result compared; 95 % studentised bootstrap over pairs "
    "of blocks"
)
Direct = dict[tuple[int, int], Interval]


@dataclass(slots=True)
class Timing:
    """A candidate that waits to be raced.

    Attributes:
        session: Where it was graded.
        size: How large its call is.
        device: The GPU's name.
        result: Its speed, or why it has none, once it was raced.
        steps: Seconds of its own setup, by step.
    """

    session: Session
    size: Speed
    device: str
    result: VerdictSpeed | FaultError | None = None
    steps: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contest:
    """What came of it.

    Attributes:
        verdicts: In the order given.
        direct: At [i, j]: how many times as fast as candidate j candidate i is.
        stages: Seconds of the whole.
        each: Seconds of each candidate, its setup among them.
    """

    verdicts: list[Verdict]
    direct: Direct
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
    begun = time.monotonic()

    def wait(place: Place, session: Session) -> VerdictSpeed | None:
        """The jobs' timer: hands the session over, and comes back when the race is over."""
        try:
            size = pair_timing.prepared(pair_timing.posed(session))
        except FaultError as fault:
            return NoSpeed(fault.message)
        place.timing = Timing(session, size, session.record.facts.device)
        group.arrived(place)
        place.gone.wait()
        return _told(place.timing.result)

    with Several(jobs, most, wait if kind == "cuda" else None) as group:
        group.wait(hear)
        stages["graded"] = time.monotonic() - begun
        racing = {p.number: p.timing for p in group.places if isinstance(p.timing, Timing)}
        pools = jobs[0].pools
        with contextlib.ExitStack() as stack:
            if kind == "cuda":
                stack.enter_context(alone(jobs[0].say))
            if pools:
                stack.enter_context(pools.quiet())
            direct = race_all(racing, stages)
    verdicts = [place.verdict for place in group.places if place.verdict]
    return Contest(verdicts, direct, stages, [_seconds(place) for place in group.places])


def race_all(racing: dict[int, Timing], stages: dict[str, float]) -> Direct:
    """Give each its result, by number; answers the comparisons of two.

    One that fails when it is set up is out, and the others are set up again.
    """
    clock, made = time.monotonic(), None
    while racing and made is None:
        try:
            made = race.set_up_race([timing.session for timing in racing.values()], pair_timing.CASE)
        except race.SetUpError as error:
            number = list(racing)[error.number]
            racing.pop(number).result = error.fault
        except FaultError as fault:
            return _none(racing, fault)
    if made is None:
        return {}
    stages["line up"] = time.monotonic() - clock
    for candidate, timing in zip(made.candidates, racing.values(), strict=True):
        for step, seconds in candidate.pairs[0].stages.items():
            timing.steps[step] = timing.steps.get(step, 0.0) + seconds
    try:
        made.run()
        stages |= made.stages
        clock = time.monotonic()
        give_speeds(made, list(racing.values()))
        stages["reference alone"] = time.monotonic() - clock
    except FaultError as fault:
        return _none(racing, fault)
    return _compared(made, list(racing))


def give_speeds(made: Race, timings: Sequence[Timing]) -> None:
    """Give each candidate its speed, or why it has none. Ends their processes.

    At last the reference runs alone. If it was slower during the race, something of the candidates kept the
    GPU busy in its turns, and nobody can tell which: then none of them has a speed.
    """
    card = gpu_card.of_device(timings[0].device)
    for candidate, timing in zip(made.candidates, timings, strict=True):
        if candidate in made.playing:
            own, size = candidate.result.submission, timing.size
            if why := cross_check.too_fast(own, card, size.fused_bytes // 2, size.flops):
                made.exclude(candidate, FaultError(Status.TAMPERED, why))
    alone = made.reference_alone()
    slow = cross_check.slowed(made.during, alone) if made.playing else ""
    processes = 2 * sum(map(len, made.groups))
    for candidate, timing in zip(made.candidates, timings, strict=True):
        if candidate.fault:
            timing.result = candidate.fault
        elif slow:
            timing.result = NoSpeed(f"No candidate can be ranked. {slow}")
        else:
            timing.result = candidate.result.speed(timing.device, METHOD, processes)


def _compared(made: Race, numbers: list[int]) -> Direct:
    """Each two candidates that were in one race to its end."""
    direct = {}
    for one, number in zip(made.candidates, numbers, strict=True):
        result = one.result
        for other, opponent in zip(made.candidates, numbers, strict=True):
            pairs = result.block_pairs[other.name]
            if one is not other and pairs and len(pairs) == len(result.groups) == len(result.confirmed):
                direct[number, opponent] = result.against(other.name)
    return direct


def _told(result: VerdictSpeed | FaultError | None) -> VerdictSpeed | None:
    if not isinstance(result, FaultError):
        return result
    if result.status in (Status.NOT_GRADABLE, Status.NOT_RUN, Status.TIMEOUT):
        return NoSpeed(result.message)
    raise result


def _none(racing: dict[int, Timing], fault: FaultError) -> Direct:
    """The whole race came to nothing."""
    for timing in racing.values():
        timing.result = FaultError(Status.NOT_GRADABLE, f"The race did not end: {fault.message}")
    return {}


def _seconds(place: Place) -> dict[str, float]:
    """Where its time went; what it waited for others while they were graded and raced is left out."""
    own = dict(place.verdict.stages) if place.verdict else {}
    if isinstance(place.timing, Timing):
        own.pop("speed", None)
        own |= {f"line up: {step}": seconds for step, seconds in place.timing.steps.items()}
    return {"waited": place.waited, **own}
