"""Candidates for one problem, raced together on a GPU: each is graded first, then all wait for all."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from grader.check import Job
from grader.check import check as grade
from grader.clock import together
from grader.clock.interval import Interval
from grader.pairs import timing
from grader.referee.fault import FaultError
from grader.task import Speed
from grader.verdict import Status, Verdict

if TYPE_CHECKING:
    from grader.referee.conduct import Match


@dataclass(slots=True)
class _Place:
    """One candidate on its way: ``there`` once it is graded, with a ``racer`` if it is to be raced."""

    job: Job
    there: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    racer: timing.Racer | None = None
    what: Speed | None = None
    device: str = ""
    result: dict[str, Any] | FaultError | None = None
    verdict: Verdict | None = None
    error: BaseException | None = None

    def wait(self, match: Match) -> dict[str, Any] | None:
        """The job's timer: hands the match over, and comes back when the race is over."""
        try:
            self.racer, self.what = timing.prepared(match, match.kept["pair"])
            self.device = str(match.record.facts.get("device", ""))
        except FaultError as fault:
            return {"kind": "none", "why": fault.message}
        self.there.set()
        self.gone.wait()
        if isinstance(self.result, FaultError):
            if self.result.status in (Status.NOT_GRADABLE, Status.NOT_RUN, Status.TIMEOUT):
                return {"kind": "none", "why": self.result.message}
            raise self.result
        return self.result

    def grade(self) -> None:
        """In a thread of its own."""
        try:
            self.verdict = grade(replace(self.job, timer=self.wait, with_speed=True)).verdict
        except BaseException as error:
            self.error = error
        finally:
            self.there.set()


@dataclass(frozen=True, slots=True)
class Contest:
    """``verdicts`` in the order given; ``direct[i, j]``: how many times as fast as j candidate i is."""

    verdicts: list[Verdict]
    direct: dict[tuple[int, int], Interval]


def contest(jobs: Sequence[Job]) -> Contest:
    """Grade one after another, and race those that passed in one race."""
    places = [_Place(job) for job in jobs]
    threads = [threading.Thread(target=place.grade, daemon=True) for place in places]
    direct: dict[tuple[int, int], Interval] = {}
    try:
        for place, thread in zip(places, threads, strict=True):
            thread.start()
            place.there.wait()
        direct = _race(places)
    finally:
        for place in places:
            place.gone.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    for place in places:
        if place.error is not None:
            raise place.error
    return Contest([place.verdict for place in places if place.verdict], direct)


def _race(places: list[_Place]) -> dict[tuple[int, int], Interval]:
    """Give each that waits its result; the comparisons of two candidates by their numbers."""
    ready = [(n, p) for n, p in enumerate(places) if p.racer is not None and p.error is None]
    if not ready:
        return {}
    racers = [p.racer for _, p in ready if p.racer is not None]
    try:
        meeting = together.meet(racers, timing.CASE)  # type: ignore[arg-type]
        together.run(meeting)
        found = together.speeds(meeting, [p.what for _, p in ready if p.what], ready[0][1].device)
    except FaultError as fault:
        for _, place in ready:
            place.result = FaultError(Status.NOT_GRADABLE, f"The race did not end: {fault.message}")
        return {}
    for (_, place), result in zip(ready, found, strict=True):
        place.result = result
    direct = {}
    for a, (number, _) in enumerate(ready):
        heat = meeting.heats[a]
        for b, (other, _) in enumerate(ready):
            pairs = heat.pairs.get(str(b), [])
            if a != b and pairs and len(pairs) == len(heat.groups) == len(heat.kept):
                direct[number, other] = heat.against(str(b))
    return direct
