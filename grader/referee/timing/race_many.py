"""Several submissions for one problem in one race: their blocks in turns, and one reference for all."""

from __future__ import annotations

import contextlib
import functools
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.domain import gpu_card
from grader.domain.task import Case, Speed
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing import cross_check, gpu_state, race
from grader.referee.timing.cross_check import Blocks
from grader.referee.timing.interval import Pairs, spread
from grader.referee.timing.order import order, seed_of
from grader.referee.timing.plan import Plan
from grader.referee.timing.setup import Start, alike, at_once, beside, line_up
from grader.referee.timing.timed_results import compare
from grader.referee.timing.track import EAGER
from grader.referee.timing.two_clocks import Past, hear

if TYPE_CHECKING:
    from grader.referee.session import Session

METHOD = (
    "one race: blocks of calls of all candidates and of eager PyTorch in turns, in an order drawn for each "
    "round and then reversed, each in a process of its own; cold cache; CUDA events against the referee's "
    "wall clock, also of calls in rows; every timed result compared; 95 % studentised bootstrap over pairs "
    "of blocks"
)
SECONDS = 12.0  # of rounds at most, for all candidates


@dataclass(slots=True)
class Meeting:
    """A race of several. ``heats``: of each candidate, against eager and against each other by number.

    ``said``: who is out, and why. ``during``: blocks of the first reference in the last race of all.
    ``stages``: seconds of single calls and of rows, for all races.
    """

    starts: list[list[Start]]
    heats: list[race.Heat]
    said: dict[int, FaultError] = field(default_factory=dict)
    during: Blocks = field(default_factory=Blocks)
    stages: dict[str, float] = field(default_factory=lambda: {"rounds": 0.0, "rows": 0.0})

    @property
    def playing(self) -> set[int]:
        """Those of whom nothing is said."""
        return set(range(len(self.heats))) - set(self.said)

    def out(self, number: int, fault: FaultError) -> None:
        """That one takes no further part, and nobody is compared with it."""
        self.said[number] = fault
        for heat in self.heats:
            heat.pairs[str(number)] = []

    def at(self, number: int) -> list[Start]:
        """A candidate's pairs of processes."""
        return [group[number] for group in self.starts]


def meet(sessions: Sequence[Session], case: Case) -> Meeting:
    """Line all of them up; for short calls processes that all did the same before, with the same files."""
    first = _lined(0, sessions[0], case)
    how = first.plan
    group = [first, *(_lined(n, session, case, how) for n, session in enumerate(sessions[1:], 1))]
    starts = [group]
    makers = [functools.partial(s.twin, s.problem.beside) for s in sessions if s.twin]
    wanted = how.pairs_for(first.eager_seconds)
    if wanted > 1 and len(makers) == len(sessions):
        starts = []
        for _ in range(wanted):
            twins = at_once(*makers)
            starts.append([_lined(n, twin, case, like=group[n]) for n, twin in enumerate(twins)])
    same = iter(alike([s for group in starts for s in group]))
    starts = [[next(same) for _ in group] for group in starts]
    names = [EAGER, *map(str, range(len(sessions)))]
    heats = [race.Heat(Blocks(), {}, how, {name: [] for name in names}) for _ in sessions]
    return Meeting(starts, heats)


def _lined(
    number: int, session: Session, case: Case, how: Plan | None = None, like: Start | None = None
) -> Start:
    """One lined up; a fault says whose it is, so that the others may race without it."""
    try:
        return beside(session, case, like) if like else line_up(session, case, how=how)
    except FaultError as fault:
        fault.evidence["candidate"] = number
        raise


def run(meeting: Meeting) -> None:
    """Rounds until each candidate's interval is narrow enough, or time is up.

    A candidate whose timed results are wrong, or whose claims the referee's clock refutes in two races, is in
    ``said`` and takes no further part. For whom the clocks do not agree races again, first without those for
    whom they do: they need not wait for one that is out after that. If it is not, all race once more, since
    candidates are compared within one race; of whom even the last race cannot tell, no ratio is claimed.
    """
    accused: Counter[int] = Counter()
    past: defaultdict[int, Past] = defaultdict(Past)
    among = meeting.playing
    for number in range(race.RACES):
        everybody = among == meeting.playing
        _race(meeting, among, drain=number > 0)
        if everybody:
            meeting.during = meeting.starts[0][0].eager.blocks
        doubted = set()
        for n, said in _hear(meeting, among, past, drain=number > 0).items():
            accused[n] += bool(said.accuses)
            if accused[n] > 1:
                meeting.out(n, FaultError(Status.TAMPERED, said.accuses))
            elif said.accuses or not said.clear:
                doubted.add(n)
        still = among & meeting.playing
        if not (doubted if everybody else still):
            return
        among = doubted if number == 0 else meeting.playing


def _race(meeting: Meeting, among: set[int], *, drain: bool) -> None:
    """One race of these, from its beginning."""
    first = meeting.starts[0][0]
    for track in (t for group in meeting.starts for s in group for t in s.tracks):
        track.blocks = Blocks()  # without those that the start was told by
    for number in among:
        heat = meeting.heats[number]
        meeting.heats[number] = race.Heat(Blocks(), {}, heat.plan, {name: [] for name in heat.pairs})
    begun, states, rounds = time.monotonic(), [gpu_state.state()], 0
    while not _enough(meeting, among, rounds, time.monotonic() - begun):
        for number, group in enumerate(meeting.starts):
            _round(meeting, among, group, number, drain)
        rounds += len(meeting.starts)
        states.append(gpu_state.state())
    for number in among:
        heat = meeting.heats[number]
        heat.rounds, heat.machine, heat.overhead = rounds, gpu_state.over(states), first.overhead
    meeting.stages["rounds"] += time.monotonic() - begun


def _hear(
    meeting: Meeting, among: set[int], past: defaultdict[int, Past], *, drain: bool
) -> dict[int, cross_check.Testimony]:
    """What the clocks say of each candidate; which of its blocks count."""
    found: dict[int, cross_check.Testimony] = {}
    first, begun = meeting.starts[0][0], time.monotonic()
    for number in sorted(among & meeting.playing):
        heat, own = meeting.heats[number], meeting.at(number)
        pairs = [(s.mine.blocks, g[0].eager.blocks) for s, g in zip(own, meeting.starts, strict=True)]
        trusted = [group[0] for group in meeting.starts]
        # Its rows beside those of its own references, which compute with its weights.
        with _blame(meeting, str(number)):
            heard = hear(first.session, pairs, own, trusted, past[number], drain=drain)
        if number in meeting.said:
            continue
        said, heat.rows = heard.said, heard.rows
        heat.compared += heard.compared
        found[number] = said
        blocks = [iter(kept) for kept in said.kept]
        heat.kept = [next(blocks[g]) for g in heat.groups]
        heat.clear = said.clear and not said.accuses
        heat.why = "" if heat.clear else said.why or race.BUSY
        heat.baselines[EAGER] = Blocks()
        for start, group in zip(own, meeting.starts, strict=True):
            heat.own.extend(start.mine.blocks)
            heat.baselines[EAGER].extend(group[0].eager.blocks)
    meeting.stages["rows"] += time.monotonic() - begun
    return found


def _round(meeting: Meeting, among: set[int], group: list[Start], number: int, drain: bool) -> None:
    """Two blocks of each; of the references only the first one's are timed."""
    first = group[0]
    rng, how = first.session.rng, first.plan
    playing = sorted(among & meeting.playing)
    tracks = {EAGER: first.eager} | {str(n): group[n].mine for n in playing}
    drawn = [list(tracks)[i] for i in rng.permutation(len(tracks))]
    found: dict[str, list[list[float]]] = {name: [] for name in tracks}
    fresh = how.fresh_for(first.eager_seconds)
    for turns in (drawn, drawn[::-1]):
        calls, seed = order(how, rng), seed_of(rng)
        for name in turns:
            if name == EAGER or int(name) not in meeting.said:
                with _blame(meeting, name):
                    tracks[name].block(calls, seed, first.times, fresh, drain=drain)
                    found[name].append([max(s - first.overhead, 1e-9) for s in tracks[name].blocks.calls[-1]])
        for n in playing:
            if n not in meeting.said:
                start = group[n]
                start.eager.repeat(calls, seed)
                with _blame(meeting, str(n)):
                    meeting.heats[n].compared += compare(
                        start.mine, start.eager, range(len(calls)), len(calls), start.outputs, start.bound
                    )
    for n in playing:
        if n in meeting.said:
            continue
        heat = meeting.heats[n]
        for name, seconds in found.items():
            if len(seconds) == 2 and (name == EAGER or int(name) not in meeting.said):
                pairs: Pairs = list(zip(found[str(n)], seconds, strict=True))
                heat.pairs[name] += pairs
        heat.groups += [number, number]


@contextlib.contextmanager
def _blame(meeting: Meeting, name: str) -> Iterator[None]:
    """A candidate's own fault ends the race for that one only."""
    try:
        yield
    except FaultError as fault:
        if name == EAGER:
            raise
        meeting.out(int(name), fault)


def _enough(meeting: Meeting, among: set[int], rounds: int, seconds: float) -> bool:
    how = meeting.starts[0][0].plan
    if rounds < max(how.least, 2 * len(meeting.starts)):
        return False
    if rounds >= how.most or seconds >= SECONDS:
        return True
    still = [meeting.heats[n] for n in among & meeting.playing]
    return all(h.against(sampling=True).half_width <= how.precise for h in still)


def speeds(meeting: Meeting, what: Sequence[Speed], device: str) -> list[dict[str, Any] | FaultError]:
    """For each candidate its verdict's ``speed``, or why it has none. Ends their processes.

    At last the reference runs alone. If it was slower during the race, something of the candidates kept the
    GPU busy in its turns, and nobody can tell which: then none of them has a speed.
    """
    card = gpu_card.of_device(device)
    for number, (heat, one) in enumerate(zip(meeting.heats, what, strict=True)):
        if number not in meeting.said and (
            why := cross_check.too_fast(heat.own, card, one.fused_bytes // 2, one.flops)
        ):
            meeting.out(number, FaultError(Status.TAMPERED, why))
    first = meeting.starts[0][0]
    for start in (s for group in meeting.starts for s in group):
        start.session.rest()
    slow = cross_check.slowed(meeting.during, race.alone(first.session, first))
    found: list[dict[str, Any] | FaultError] = []
    for number, heat in enumerate(meeting.heats):
        if number in meeting.said:
            found.append(meeting.said[number])
        elif slow:
            found.append({"kind": "none", "why": f"No candidate can be ranked. {slow}"})
        else:
            found.append(_speed(meeting, heat, device))
    return found


def _speed(meeting: Meeting, heat: race.Heat, device: str) -> dict[str, Any]:
    against = heat.against()
    eager = spread(heat.baselines[EAGER].seconds).as_json()
    beside = {"seconds": eager, "ratio": against.ratio, "interval": [against.low, against.high]}
    return {
        "kind": "measured",
        "device": device,
        "method": METHOD,
        "seconds": spread(heat.own.seconds).as_json(),
        "eager_seconds": eager,
        "whole_ratio": against.ratio,
        "interval": [against.low, against.high],
        "outcome": against.outcome,
        "rounds": heat.rounds,
        "processes": 2 * sum(map(len, meeting.starts)),
        "compared": heat.compared,
        "clocks_apart": heat.own.unexplained() - heat.baselines[EAGER].unexplained(),
        "confirmed": sum(heat.kept),
        "blocks": heat.as_json(),
        "baselines": {EAGER: beside | {"outcome": against.outcome}},
        "machine": heat.machine,
    } | ({"why": heat.why} if heat.why else {})  # fmt: skip
