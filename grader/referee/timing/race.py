"""The race: blocks of calls of submission and baselines in turns, and a look at every timed result."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.domain.task import Case
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing import back_to_back as rows
from grader.referee.timing import gpu_state as machine
from grader.referee.timing.cross_check import Blocks, Testimony
from grader.referee.timing.interval import Interval, Pairs, interval
from grader.referee.timing.order import order, seed_of
from grader.referee.timing.plan import Plan
from grader.referee.timing.setup import Start, alike, at_once, beside, line_up, ready
from grader.referee.timing.timed_results import compare
from grader.referee.timing.track import COPY, EAGER, OWN, SOLUTION, Track
from grader.referee.timing.two_clocks import Past, afterwards, hear

if TYPE_CHECKING:
    from grader.referee.session import Session

RACES = 3  # at most, where the clocks do not agree
BUSY = "Too noisy to tell: between the calls this machine did other things. Grade it again."

__all__ = [
    "COPY", "EAGER", "OWN", "SOLUTION", "Heat", "Start", "Track", "alone", "beside", "heat", "line_up",
    "ready",
]  # fmt: skip


@dataclass(slots=True)
class Heat:
    """What a race has found. ``baselines`` by name, the first is the one that counts.

    ``pairs`` by baseline; ``rows``: blocks whose calls follow each other, of each pair of processes of which
    there are any; ``groups`` says for each of them which pair of processes it comes from. Where no
    ratio is claimed it is not ``clear``, and ``why`` is for a student. ``hearing``: seconds for rows.
    """

    own: Blocks
    baselines: dict[str, Blocks]
    plan: Plan
    pairs: dict[str, Pairs]
    rounds: int = 0
    overhead: float = 0.0
    machine: dict[str, Any] = field(default_factory=dict)
    compared: int = 0
    rows: list[rows.Pair] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    clear: bool = True
    why: str = ""
    hearing: float = 0.0

    def against(self, name: str = EAGER, *, sampling: bool = False) -> Interval:
        """How many times as fast as that baseline; ``sampling``: as if processes were all alike.

        Pairs of blocks that the wall clock does not confirm are left out, unless it confirms too few.
        """
        process = 0.0
        if self.own.calls and not sampling:
            process = math.hypot(self.plan.process / median(self.own.seconds), self.plan.share)
        pairs, groups = self.pairs[name], self.groups
        if self.clear and self.kept:
            pairs = [p for p, k in zip(pairs, self.kept, strict=True) if k]
            groups = [g for g, k in zip(groups, self.kept, strict=True) if k]
        found = interval(pairs, groups, process, between=not sampling)
        return found if self.clear else replace(found, clear=False)

    def as_json(self) -> dict[str, Any]:
        """For a verdict: claims and wall times of all blocks of submission and reference."""
        found = {"submission": self.own.as_json(), "reference": self.baselines[EAGER].as_json()}
        if not self.rows:
            return found
        mine, eager = Blocks(), Blocks()
        for pair in self.rows:
            mine.extend(pair[0])
            eager.extend(pair[1])
        return found | {"rows": {"submission": mine.as_json(), "reference": eager.as_json()}}


def more(case: Case, start: Start) -> list[Start]:
    """The pairs of processes that race: the one that there is, or for short calls several new ones.

    Two processes with the same kernel are not quite alike, the less so if they did other things before: the
    reference's has computed answers, the submission's has been judged. Where that can matter, all pairs are
    new, and it is several of them.
    """
    wanted, session = start.plan.pairs_for(start.eager_seconds), start.session
    if session.twin is None or wanted == 1:
        return [start]
    twins = at_once(*[functools.partial(session.twin, session.problem.beside)] * wanted)
    pairs: list[Start] = []
    try:
        pairs.extend(beside(twin, case, start) for twin in twins)
    except FaultError:
        for twin in twins:
            twin.close()
            twin.oracle.player.stop()
        raise
    return alike(pairs)


def heat(session: Session, *starts: Start) -> Heat:
    """Blocks in turns, A B B A, in an order drawn for each round, until the interval is narrow enough.

    If the clocks do not agree, all is raced once more, and a third time if need be: a host that did something
    else for a while is no cheat. Nor is a call that waits for the device: in these races it is waited for
    after each call, of all contenders, so that such a one has its ratio. Raises FaultError with
    ``wrong_output`` if any timed result is not what it should be, and ``tampered`` if two races show work
    that the claimed times do not hold. Where even the last one cannot tell, no ratio is claimed: ``clear`` is
    false. So it is where no more is missing than calls of the reference that wait would explain.
    """
    accusing: list[Heat] = []
    past = Past()
    for number in range(RACES):
        found, said = _heat(session, starts, past, drain=number > 0)
        if said.clear and not said.accuses:
            return found
        accusing += [found] * bool(said.accuses)
        if len(accusing) > 1:
            raise FaultError(Status.TAMPERED, said.accuses, races=[h.as_json() for h in accusing])
    found.clear, found.why = False, said.why or BUSY
    return found


def _heat(session: Session, starts: tuple[Start, ...], past: Past, *, drain: bool) -> tuple[Heat, Testimony]:
    first = starts[0]
    for track in (t for s in starts for t in s.tracks):
        track.blocks = Blocks()
    shared = set.intersection(*({t.name for t in s.tracks} for s in starts)) - {OWN}
    names = [t.name for t in first.tracks if t.name in shared]
    found = Heat(Blocks(), {name: Blocks() for name in names}, first.plan, {name: [] for name in names})
    found.overhead = first.overhead
    begun, states = time.monotonic(), [machine.state()]
    least = max(first.plan.least_for(first.eager_seconds), 2 * len(starts))
    while not _enough(found, time.monotonic() - begun, least):
        for group, start in enumerate(starts):
            _round(session, start, found, group, names, drain)
        found.rounds += len(starts)
        states.append(machine.state())
    for start in starts:
        for track in start.tracks:
            into = found.own if track is start.mine else found.baselines.get(track.name)
            if into is not None:
                into.extend(track.blocks)
    said = _heard(session, starts, found, past, drain=drain)
    blocks = [iter(kept) for kept in said.kept]
    found.kept = [next(blocks[group]) for group in found.groups]
    found.machine = machine.over(states)
    return found, said


def _heard(session: Session, starts: tuple[Start, ...], found: Heat, past: Past, *, drain: bool) -> Testimony:
    """What the clocks say of single calls, and of such as follow each other."""
    singles, begun = [(s.mine.blocks, s.eager.blocks) for s in starts], time.monotonic()
    heard = hear(session, singles, starts, starts, past, drain=drain)
    found.rows, found.hearing = heard.rows, time.monotonic() - begun
    found.compared += heard.compared
    return heard.said


def _round(session: Session, start: Start, found: Heat, group: int, names: list[str], drain: bool) -> None:
    """Two blocks of each contender of one pair of processes."""
    mine, eager, everyone = start.mine, start.eager, start.tracks
    drawn = [everyone[i] for i in session.rng.permutation(len(everyone))]
    times: dict[str, list[list[float]]] = {t.name: [] for t in everyone}
    fresh = start.plan.fresh_for(start.eager_seconds)
    for turns in (drawn, drawn[::-1]):
        # Inputs that no call has had before, the same for all contenders.
        calls, seed = order(start.plan, session.rng), seed_of(session.rng)
        for track in turns:
            numbers = [0] * len(calls) if track.name == COPY else calls
            track.block(numbers, seed, start.times, fresh, drain=drain)
            times[track.name].append([max(s - start.overhead, 1e-9) for s in track.blocks.calls[-1]])
        found.compared += compare(mine, eager, range(len(calls)), len(calls), start.outputs, start.bound)
    for name in names:
        found.pairs[name] += list(zip(times[mine.name], times[name], strict=True))
    found.groups += [group, group]


def _enough(heat: Heat, seconds: float, least: int) -> bool:
    how = heat.plan
    if heat.rounds < least:
        return False
    if heat.rounds >= how.most or seconds >= how.seconds:
        return True
    return heat.against(sampling=True).half_width <= how.precise


def alone(session: Session, *starts: Start) -> Blocks:
    """Blocks of the reference once the submission's processes have ended."""
    for each in (session, *(start.session for start in starts)):
        each.rest()
    return afterwards(session, starts[0])


def unlike(heat: Heat) -> float:
    """Seconds by which pairs of processes differ, less what blocks explain; NaN for one pair. To report."""
    own = median(heat.own.seconds)
    logs = np.array([math.log(median(b) / median(a)) for a, b in heat.pairs[EAGER]])
    groups = [logs[np.array(heat.groups) == g] for g in sorted(set(heat.groups))]
    if len(groups) < 2:
        return math.nan
    means = np.array([g.mean() for g in groups])
    within = float(np.mean([g.var(ddof=1) / len(g) for g in groups]))
    return own * math.sqrt(max(0.0, float(means.var(ddof=1)) - within))
