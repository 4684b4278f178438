"""The race: blocks of calls of all candidates and baselines in turns, and a look at every timed result.

One submission beside its reference is a race of one candidate; several submissions for one problem share a
race and the reference that is timed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.domain import speed
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.timing import gpu_state, setup
from grader.referee.timing.contender import COPY, Contender
from grader.referee.timing.cross_check import Blocks, ClockEvidence
from grader.referee.timing.plan import call_order, new_seed
from grader.referee.timing.race_result import RaceResult
from grader.referee.timing.timed_results import compare
from grader.referee.timing.two_clocks import CrossExamination, EarlierRaces, reference_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.domain.task import Case
    from grader.referee.session import Session
    from grader.referee.timing.setup import ProcessPair

MOST_RACES = 3  # where the clocks do not agree
SEVERAL_LIMIT_S = 12.0  # of rounds of several candidates; for one it is the plan's
BUSY = "Too noisy to tell: between the calls this machine did other things. Grade it again."


class SetUpError(Exception):
    """A candidate that cannot be set up: its number, and why."""

    def __init__(self, number: int, fault: FaultError) -> None:
        super().__init__(fault.message)
        self.number, self.fault = number, fault


@dataclass(slots=True, eq=False)
class Candidate:
    """A submission in a race.

    Attributes:
        name: Its number, as text.
        session: Where it was graded.
        pairs: Its processes that race, one pair for each group.
        result: Of its last race.
        suspected: Results of the races in which its times were suspected.
        earlier: What its earlier races leave to the next.
        fault: Why it is out.
    """

    name: str
    session: Session
    pairs: list[ProcessPair]
    result: RaceResult
    suspected: list[RaceResult] = field(default_factory=list)
    earlier: EarlierRaces = field(default_factory=EarlierRaces)
    fault: FaultError | None = None


@dataclass(slots=True, eq=False)
class _Turn:
    """A contender in a round; ``candidate``: if it is one. ``seconds``: of the calls of its two blocks."""

    name: str
    contender: Contender
    candidate: Candidate | None = None
    seconds: list[list[float]] = field(default_factory=list)

    @property
    def out(self) -> bool:
        return self.candidate is not None and self.candidate.fault is not None


@dataclass(frozen=True, slots=True)
class _Half:
    """Half of a round: a block of each contender of the group with this number, in this order."""

    group: int
    turns: list[_Turn]

    @property
    def candidates(self) -> list[Candidate]:
        """Those that take part in it and are not out."""
        return _playing([turn.candidate for turn in self.turns if turn.candidate])


class Race:
    """A race of one candidate or several.

    A *group* is a pair of processes of each candidate. Of its references only the first candidate's is timed;
    the others, which may have other weights, compute what their own candidate's results are compared with.

    Args:
        sessions: Of each candidate.
        groups: For each group the candidates' pairs of processes, in the order of ``sessions``.

    Attributes:
        candidates: In the order given.
        during: Blocks of the first reference in the last race in which nobody was missing.
        stages: Seconds of rounds of single calls, and of back-to-back blocks ("rows"), for all races. Of the
            rounds also those of the timed blocks, with what is asked right before each, and those in which
            results are compared and the next processes prepared.
    """

    def __init__(self, sessions: Sequence[Session], groups: Sequence[Sequence[ProcessPair]]) -> None:
        self.groups = groups
        self._trusted = [group[0] for group in groups]
        first = self._trusted[0]
        self._plan, self._rng = first.plan, sessions[0].rng
        self._baselines = [c.name for c in (first.reference, *first.others)]
        names = [str(number) for number in range(len(sessions))]
        self._opponents = [*self._baselines, *names]
        self.candidates = [
            Candidate(name, session, [group[number] for group in groups], self._no_result())
            for number, (name, session) in enumerate(zip(names, sessions, strict=True))
        ]
        one = len(sessions) == 1
        least = self._plan.least_for(first.eager_s) if one else self._plan.least
        self._least_rounds = max(least, 2 * len(groups))
        self._limit_s = self._plan.limit_s if one else SEVERAL_LIMIT_S
        self.during = Blocks()
        self.stages = {"rounds": 0.0, "rounds, blocks": 0.0, "rounds, results": 0.0, "rows": 0.0}

    @property
    def playing(self) -> list[Candidate]:
        """Those that are not out."""
        return _playing(self.candidates)

    def result(self, number: int = 0) -> RaceResult:
        """What was found of a candidate.

        Raises:
            FaultError: ``wrong_output`` if any timed result was not what it should be, ``tampered`` if two
                races showed work that the claimed times do not hold, or whatever else put it out.
        """
        candidate = self.candidates[number]
        if candidate.fault:
            raise candidate.fault
        return candidate.result

    def exclude(self, candidate: Candidate, fault: FaultError) -> None:
        """That one takes no further part, and nobody is compared with it."""
        candidate.fault = fault
        for other in self.candidates:
            other.result.block_pairs[candidate.name] = []

    def run(self) -> None:
        """Rounds until each candidate's interval is narrow enough, or time is up.

        If the clocks do not agree on a candidate, it races again, and a third time if need be: a host that
        did something else for a while is not a cheat. Nor is a call that waits for the device: in these races
        it is waited for after each call, of all contenders, so that such a one has its ratio.

        The second race is without those on whom the clocks agree: they need not wait for one that is out
        after that. If it is not, all race once more, since candidates are compared within one race. Where
        even the last one cannot tell, no ratio is claimed: the result is not ``clear``. So it is where no
        more is missing than calls of the reference that wait would explain.

        Raises:
            FaultError: If a baseline fails. A candidate's own fault puts only that one out.
        """
        among = self.playing
        for number in range(MOST_RACES):
            drain, everybody = number > 0, among == self.playing
            self._run_rounds(among, drain=drain)
            if everybody:
                self.during = self._trusted[0].reference.blocks
            doubted = self._look_at_clocks(among, drain=drain)
            if not (doubted if everybody else _playing(among)):
                return
            among = doubted if number == 0 else self.playing

    def reference_alone(self) -> Blocks:
        """Blocks of the reference, once all of the candidates' processes have ended."""
        graded = [candidate.session for candidate in self.candidates]
        racing = [pair.session for candidate in self.candidates for pair in candidate.pairs]
        ending = {id(session): session for session in (*graded, *racing)}
        setup.at_once(*(session.rest for session in ending.values()))
        return reference_blocks(self._rng, self._trusted[0])

    def close_new_pairs(self) -> None:
        """End the processes that were started for this race."""
        for candidate in self.candidates:
            _close([pair.session for pair in candidate.pairs if pair.session is not candidate.session])

    def _no_result(self) -> RaceResult:
        baselines = {name: Blocks() for name in self._baselines}
        return RaceResult(Blocks(), baselines, self._plan, {name: [] for name in self._opponents})

    def _run_rounds(self, among: list[Candidate], *, drain: bool) -> None:
        """One race of these, from its beginning."""
        for pair in (pair for group in self.groups for pair in group):
            for contender in pair.contenders:
                contender.blocks = Blocks()  # without those that the setup was told by
                contender.prepared = None
        for candidate in among:
            candidate.result = self._no_result()
        begun, states, rounds = time.monotonic(), [gpu_state.state()], 0
        while _playing(among) and not self._enough(among, rounds, time.monotonic() - begun):
            self._round_of_each(among, drain=drain)
            rounds += len(self.groups)
            states.append(gpu_state.state())
        for result in (candidate.result for candidate in among):
            result.rounds, result.overhead_s = rounds, self._trusted[0].overhead_s
            result.machine = gpu_state.ranges(states)
        self.stages["rounds"] += time.monotonic() - begun

    def _enough(self, among: list[Candidate], rounds: int, seconds: float) -> bool:
        def widest() -> float:
            return max(c.result.against(sampling=True).half_width for c in _playing(among))

        return rounds >= self._least_rounds and self._plan.over(rounds, seconds, self._limit_s, widest)

    def _round_of_each(self, among: list[Candidate], *, drain: bool) -> None:
        """A round of each group: two blocks of each contender, A B B A, in an order drawn now.

        First a half of each group, then the other. So while a half's results travel and are compared, the
        processes of the next one can be prepared: nobody is timed meanwhile.
        """
        forth = [_Half(number, self._lined_up(number, among)) for number in range(len(self.groups))]
        back = [_Half(half.group, half.turns[::-1]) for half in forth]
        setup.at_once(*self._preparations(forth[0]))
        for half, following in itertools.pairwise([*forth, *back, None]):
            assert half is not None
            self._run_half(half, following, drain=drain)
        for half in forth:
            _keep(half)

    def _lined_up(self, number: int, among: list[Candidate]) -> list[_Turn]:
        first = self._trusted[number]
        turns = [_Turn(c.name, c.pairs[number].submission, c) for c in _playing(among)]
        turns += [_Turn(baseline.name, baseline) for baseline in (first.reference, *first.others)]
        return [turns[i] for i in self._rng.permutation(len(turns))]

    def _run_half(self, half: _Half, following: _Half | None, *, drain: bool) -> None:
        """Its blocks, one after the other; then their results, and what can be done for the next half."""
        # Inputs that no call has had before, the same for all contenders.
        numbers, seed = call_order(self._plan, self._rng), new_seed(self._rng)
        begun = time.monotonic()
        for turn in half.turns:
            if half.candidates:
                self._timed_block(turn, self._trusted[half.group], numbers, seed, drain=drain)
        blocks = time.monotonic()
        jobs = [functools.partial(self._compare_results, half, numbers, seed)]
        if following and following.group != half.group:
            jobs += self._preparations(following)
        setup.at_once(*jobs)
        self.stages["rounds, blocks"] += blocks - begun
        self.stages["rounds, results"] += time.monotonic() - blocks

    def _preparations(self, half: _Half) -> list[functools.partial[None]]:
        """What prepares a half's processes, a job for each of them; none where it takes next to no time."""
        fresh = self._plan.fresh_for(self._trusted[half.group].eager_s)
        if not fresh or not half.candidates:
            return []
        processes: dict[int, list[_Turn]] = {}
        for turn in half.turns:
            processes.setdefault(id(turn.contender.player), []).append(turn)
        return [functools.partial(self._prepare, turns, fresh) for turns in processes.values()]

    def _prepare(self, turns: list[_Turn], fresh: tuple[str, ...]) -> None:
        for turn in turns:
            with self._blamed(turn.candidate):
                if not turn.out:
                    turn.contender.prepare(self._plan.calls, fresh)

    def _timed_block(
        self, turn: _Turn, first: ProcessPair, numbers: list[int], seed: int, *, drain: bool
    ) -> None:
        if turn.out:
            return
        calls = [0] * len(numbers) if turn.name == COPY else numbers
        fresh = self._plan.fresh_for(first.eager_s)
        with self._blamed(turn.candidate):
            turn.contender.run_block(calls, seed, flushes=first.flushes, fresh=fresh, drain=drain)
            claims = turn.contender.blocks.calls[-1]
            turn.seconds.append([max(s - first.overhead_s, 1e-9) for s in claims])

    def _compare_results(self, half: _Half, numbers: list[int], seed: int) -> None:
        """Every result of a block with that of the candidate's own reference."""
        for candidate in half.candidates:
            pair = candidate.pairs[half.group]
            if len(self.candidates) > 1:
                pair.reference.repeat(numbers, seed)
            with self._blamed(candidate):
                candidate.result.compared += compare(
                    pair.submission,
                    pair.reference,
                    range(len(numbers)),
                    len(numbers),
                    pair.outputs,
                    pair.bound,
                )

    def _look_at_clocks(self, among: list[Candidate], *, drain: bool) -> list[Candidate]:
        """Those on whom the clocks do not agree. One that is suspected for the second time is out."""
        doubted, begun = [], time.monotonic()
        for candidate in _playing(among):
            with self._blamed(candidate):
                evidence = self._examine(candidate, drain=drain)
                if evidence.suspicion:
                    candidate.suspected.append(candidate.result)
                    if len(candidate.suspected) > 1:
                        races = [speed.as_json(result.times()) for result in candidate.suspected]
                        raise FaultError(Status.TAMPERED, evidence.suspicion, races=races)
                if not candidate.result.clear:
                    doubted.append(candidate)
        self.stages["rows"] += time.monotonic() - begun
        return doubted

    def _examine(self, candidate: Candidate, *, drain: bool) -> ClockEvidence:
        """What the clocks say of a candidate, and which of its blocks count."""
        result, both = candidate.result, list(zip(candidate.pairs, self._trusted, strict=True))
        singles = [(own.submission.blocks, trusted.reference.blocks) for own, trusted in both]
        # Its back-to-back blocks beside those of its own references, which compute with its weights.
        examination = CrossExamination(self._rng, candidate.pairs, self._trusted, drain)
        evidence, found = examination.run(singles, candidate.earlier)
        result.back_to_back = found.blocks
        result.compared += found.compared
        blocks = [iter(confirmed) for confirmed in evidence.confirmed]
        result.confirmed = [next(blocks[group]) for group in result.groups]
        result.clear = evidence.clear and not evidence.suspicion
        result.why = "" if result.clear else evidence.why or BUSY
        for own, trusted in both:
            result.submission.extend(own.submission.blocks)
            for baseline in (trusted.reference, *trusted.others):
                result.baselines[baseline.name].extend(baseline.blocks)
        return evidence

    @contextlib.contextmanager
    def _blamed(self, candidate: Candidate | None) -> Iterator[None]:
        """A candidate's own fault ends the race for that one only."""
        try:
            yield
        except FaultError as fault:
            if candidate is None:
                raise
            self.exclude(candidate, fault)


def set_up_race(
    sessions: Sequence[Session], case: Case, baselines: tuple[str, ...] = (), copy_bytes: int = 0
) -> Race:
    """Set up all candidates; the first one's plan, and its baselines, are those of the race.

    Two processes with the same kernel are not quite alike, the less so if they did other things before: the
    reference's has computed answers, the submission's has been judged. Where that can matter, which is where
    calls are short, all pairs are new, and there are several of each candidate.

    Raises:
        SetUpError: If one candidate cannot be set up.
        FaultError: If its processes cannot be started.
    """
    graded: list[ProcessPair] = []
    judging: list[setup.Judging] = []
    for number, session in enumerate(sessions):
        with _numbered(number):
            more = ((), 0, graded[0].plan) if graded else (baselines, copy_bytes)
            pair, still = setup.line_up(session, case, *more)
        graded.append(pair)
        judging.append(still)
    begun, first = time.monotonic(), graded[0]
    wanted, groups, bounds = first.plan.pairs_for(first.eager_s), [graded], list[float]()
    if wanted > 1 and all(session.twin for session in sessions):
        groups = _new_groups(sessions, case, graded, wanted, lambda: bounds.extend(_judged(judging)))
        first.stages["pairs"] = time.monotonic() - begun
    else:
        bounds.extend(_judged(judging))
    pairs = [replace(p, bound=b) for group in groups for p, b in zip(group, bounds, strict=True)]
    equal = iter(setup.equalise(pairs))
    return Race(sessions, [[next(equal) for _ in group] for group in groups])


def _judged(judging: list[setup.Judging]) -> Iterator[float]:
    for number, one in enumerate(judging):
        with _numbered(number):
            yield one.bound()


def _new_groups(
    sessions: Sequence[Session], case: Case, like: list[ProcessPair], count: int,
    meanwhile: Callable[[], None],
) -> list[list[ProcessPair]]:  # fmt: skip
    """``count`` groups of new processes: one candidate's start all at once, several's group by group.

    ``meanwhile``: done by the processes that are there already, while the first of the new ones load the
    files and are given their inputs.
    """
    starters = [functools.partial(s.twin, s.problem.beside) for s in sessions if s.twin]
    batches = 1 if len(starters) == 1 else count
    made: list[Session] = []
    groups: list[list[ProcessPair]] = []
    try:
        for batch in range(batches):
            all_of_them = functools.partial(_given, starters * (count // batches), case, like, made)
            setup.at_once(all_of_them, *([meanwhile] if batch == 0 else []))
            new = made[-len(starters) * (count // batches) :]
            # One after the other: how long a host takes to ask for a call is timed.
            for at, session in enumerate(new):
                number = at % len(starters)
                if number == 0:
                    groups.append([])
                with _numbered(number):
                    groups[-1].append(setup.called_pair(session, like[number]))
    except (FaultError, SetUpError):
        _close(made)
        raise
    return groups


def _given(
    starters: Sequence[Callable[[], Session]], case: Case, like: list[ProcessPair], made: list[Session]
) -> None:
    """Have sessions started, which are added to ``made``, and give their processes what they will need."""

    def give(at: int, session: Session) -> None:
        number = at % len(like)
        with _numbered(number):
            setup.give_both(session, case, like[number])

    begun, stages = time.monotonic(), like[0].stages
    new = setup.at_once(*starters)
    made += new
    stages["pairs, loaded"] = stages.get("pairs, loaded", 0.0) + time.monotonic() - begun
    setup.at_once(*(functools.partial(give, at, session) for at, session in enumerate(new)))


@contextlib.contextmanager
def _numbered(number: int) -> Iterator[None]:
    """A fault says whose it is, so that the others may race without it."""
    try:
        yield
    except FaultError as fault:
        raise SetUpError(number, fault) from fault


def _keep(half: _Half) -> None:
    """Both blocks of each contender of a round, each beside those of the others."""
    turns = [turn for turn in half.turns if not turn.out]
    for own in turns:
        if own.candidate is not None:
            result = own.candidate.result
            for other in (turn for turn in turns if turn is not own):
                result.block_pairs[other.name] += list(zip(own.seconds, other.seconds, strict=True))
            result.groups += [half.group, half.group]


def _close(sessions: list[Session]) -> None:
    stops = [stop for s in sessions for stop in (s.close, s.reference.player.stop)]
    setup.at_once(*stops)


def _playing(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [candidate for candidate in candidates if candidate.fault is None]
