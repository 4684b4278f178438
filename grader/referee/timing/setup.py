"""Before a race: models made, weights and inputs handed over, everything called a few times."""

from __future__ import annotations

import functools
import itertools
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from grader.domain.inputs import Drawn
from grader.domain.verdict import Status
from grader.protocol import play
from grader.referee.comparison import Comparison
from grader.referee.fault import FaultError
from grader.referee.judge import Fair, judge, right
from grader.referee.lesson_problem import LessonProblem
from grader.referee.side import Side
from grader.referee.timing.contender import COPY, EAGER, OWN, SOLUTION, Contender, positive
from grader.referee.timing.independent import independent
from grader.referee.timing.models import Making, together
from grader.referee.timing.plan import Plan, make_plan
from grader.referee.timing.timed_results import Outputs, distance, fetch
from grader.referee.transfer import form_of, input_lines, send

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.domain.task import Case
    from grader.referee.problem import Value
    from grader.referee.session import Session

T = TypeVar("T")
Array = NDArray[np.generic]
L2_BYTES = (
    64 << 20
)  # only the RTX 4090 of the course's cards has a larger cache, and it is overwritten anyway
MOST_FLUSHES = 24
HOST_MARGIN = 2.0  # times what a host usually takes to ask for a call
FLOOR = 1e-6  # of the root mean square: what rounding alone may make


@dataclass(frozen=True, slots=True)
class ProcessPair:
    """A submission and a reference that are set up, each in its process.

    Attributes:
        session: Whose processes they are.
        submission: What is timed of the submission.
        reference: What is timed of the reference, eager PyTorch.
        others: Further baselines.
        plan: How much is timed.
        outputs: Shapes and dtypes of a call's results.
        bound: How far results may differ from the reference's.
        overhead_s: Between two events with nothing in between.
        flushes: How often the cache is overwritten before each call.
        host_s: What the slowest host needs to ask for a call.
        busy_size: Of the matrices of the busy work before calls that follow each other.
        busy_step_s: Of a step of that work.
        memory_bytes: Of the device.
        eager_s: A call of the reference, about.
        stages: Seconds of each step that led here.
        sets: The inputs that were handed over.
    """

    session: Session
    submission: Contender
    reference: Contender
    others: list[Contender]
    plan: Plan
    outputs: Outputs
    bound: float
    overhead_s: float
    flushes: int
    host_s: float
    busy_size: int
    busy_step_s: float
    memory_bytes: int
    eager_s: float
    stages: dict[str, float]
    sets: list[list[Value]]

    @property
    def contenders(self) -> list[Contender]:
        """All of them, the submission first."""
        return [self.submission, self.reference, *self.others]


@dataclass(frozen=True, slots=True)
class HostTimes:
    """Seconds between two events, to ask for a call, and to overwrite the cache."""

    overhead_s: float
    host_s: float
    flush_s: float


@dataclass(frozen=True, slots=True)
class _Answer:
    """Elements ``lo`` to ``hi`` of a result: in float64, the framework's own, and what error is fair."""

    output: int
    lo: int
    hi: int
    answer: Array
    eager: Array
    by: Fair | None


@dataclass(frozen=True, slots=True)
class _Questions:
    """``sets`` of inputs, what the first should give, and how much of it is timed."""

    sets: list[list[Value]]
    outputs: Outputs
    answers: list[_Answer]
    plan: Plan


@dataclass(slots=True)
class _Baselines:
    """The reference and the other baselines; ``hosts``: seconds that each needs to ask for a call."""

    eager: Contender
    times: HostTimes
    others: list[Contender] = field(default_factory=list)
    hosts: list[float] = field(default_factory=list)


class _StageClock:
    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._begun = time.monotonic()

    def begin(self) -> None:
        """What has passed since the last lap belongs to nobody."""
        self._begun = time.monotonic()

    def lap(self, stage: str) -> None:
        """Seconds since the last lap, added to ``stage``."""
        now = time.monotonic()
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._begun
        self._begun = now


@dataclass(frozen=True, slots=True)
class Judging:
    """What is left to do for a pair: it may be done while other pairs are set up."""

    submission: Contender
    asked: _Questions
    clock: _StageClock

    def bound(self) -> float:
        """Judge a block's results as those of any case; how far later ones may lie from the reference's.

        Raises:
            FaultError: If one is wrong.
        """
        self.clock.begin()
        found = _bound(self.submission, self.asked)
        self.clock.lap("judge")
        return found


def set_up(
    session: Session, case: Case, baselines: tuple[str, ...] = (), copy_bytes: int = 0,
    plan: Plan | None = None,
) -> ProcessPair:  # fmt: skip
    """Make the models, give weights and sets of inputs, call everything a few times.

    Args:
        session: A submission that was right.
        case: The call.
        baselines: Modes of torch.compile, or "solution", beside eager.
        copy_bytes: Of a device copy that runs beside, to tell how fast memory is; 0 for none.
        plan: How much is timed, if not what the sizes of the tensors make of it.

    Raises:
        FaultError: If a call fails or is wrong, or if this cannot be timed.
    """
    pair, judging = line_up(session, case, baselines, copy_bytes, plan)
    return replace(pair, bound=judging.bound())


def line_up(
    session: Session, case: Case, baselines: tuple[str, ...] = (), copy_bytes: int = 0,
    plan: Plan | None = None,
) -> tuple[ProcessPair, Judging]:  # fmt: skip
    """As :func:`set_up`, without the pair's ``bound``: the calls of the submission are still to be judged."""
    clock = _StageClock()
    session.revive()
    assert session.player is not None
    model, making = _models(session, case)
    submission = Contender(OWN, session.submission)
    clock.lap("reference's model")
    asked = _questions(session, case, clock, plan)
    found = _baselines(session, asked, baselines, copy_bytes)
    if SOLUTION in baselines:
        found.others.append(_solution(session, case, making, model=model))
        found.hosts.append(hand_over(found.others[-1], asked.sets, asked.plan).host_s)
    clock.lap("ready")
    if making:
        making.finish()
    clock.lap("submission's model")
    hosts = [*found.hosts, hand_over(submission, asked.sets, asked.plan).host_s]
    clock.lap("ready")
    flushes = _flushes(hosts, found.times.flush_s)
    eager_s = _eager_seconds(found.eager, flushes, found.times.overhead_s)
    busy = found.eager.ask("busy_work")
    clock.lap("ready")
    pair = ProcessPair(
        session=session, submission=submission, reference=found.eager, others=found.others, plan=asked.plan,
        outputs=asked.outputs, bound=0.0, overhead_s=found.times.overhead_s, flushes=flushes,
        host_s=max(hosts), busy_size=busy["size"], busy_step_s=busy["seconds"], memory_bytes=busy["memory"],
        eager_s=eager_s, stages=clock.stages, sets=asked.sets,
    )  # fmt: skip
    return pair, Judging(submission, asked, clock)


def another_pair(session: Session, case: Case, like: ProcessPair) -> ProcessPair:
    """Another pair of processes for the race of ``like``, with the same inputs; both files are loaded."""
    give_both(session, case, like)
    return called_pair(session, like)


def give_both(session: Session, case: Case, like: ProcessPair) -> None:
    """Make the models of another pair, and give both processes weights and inputs."""
    _, making = _models(session, case)
    if making:
        making.finish()
    at_once(*(functools.partial(give, side, like.sets) for side in (session.reference, session.submission)))


def called_pair(session: Session, like: ProcessPair) -> ProcessPair:
    """A pair that has been given everything, once its calls have been made a few times.

    What a process did before it makes a short call changes what the call takes: on H200s by 0.2 us, and once
    by 1 us, for the very same kernel. So the two here are given the same and asked for the same in the same
    order. No answers are computed: the submission's calls were judged in ``like``. Baselines are timed in the
    process that has them already.
    """
    submission, reference = Contender(OWN, session.submission), Contender(EAGER, session.reference)
    times = call(reference, like.sets, like.plan)
    hosts = [times.host_s, call(submission, like.sets, like.plan).host_s]
    return replace(
        like, session=session, submission=submission, reference=reference,
        others=[Contender(other.name, other.side) for other in like.others],
        flushes=max(like.flushes, _flushes(hosts, times.flush_s)), host_s=max(like.host_s, *hosts),
    )  # fmt: skip


def equalise(pairs: Sequence[ProcessPair]) -> list[ProcessPair]:
    """The same, but the device is kept busy as long for all."""
    flushes, host_s = max(p.flushes for p in pairs), max(p.host_s for p in pairs)
    return [replace(p, flushes=flushes, host_s=host_s) for p in pairs]


def hand_over(
    contender: Contender, sets: list[list[Value]], plan: Plan, *, compiled: str = "", copy_bytes: int = 0
) -> HostTimes:
    """Give the sets, and have everything called a few times."""
    give(contender.side, sets)
    return call(contender, sets, plan, compiled=compiled, copy_bytes=copy_bytes)


def give(side: Side, sets: list[list[Value]]) -> None:
    """Send the tensors of the sets to a process."""
    drawn = [a for args in sets for a in args if isinstance(a, Drawn)]
    forms = tuple(map(form_of, drawn))
    side.later(play.Room("sets", forms))
    send(side, [(x, d.storage.data) for x, d in zip(input_lines(forms, "set"), drawn, strict=True)])
    side.flush()


def call(
    contender: Contender, sets: list[list[Value]], plan: Plan, *, compiled: str = "", copy_bytes: int = 0
) -> HostTimes:
    """Have everything called a few times, with sets that were given.

    ``compiled``: by torch.compile in that mode. ``copy_bytes``: a copy of so many bytes instead of a call.
    """
    numbers = itertools.count()
    listed = [
        play.Node(
            l=tuple(play.Node(t=next(numbers)) if isinstance(a, Drawn) else play.plain_node(a) for a in args)
        )
        for args in sets
    ]
    one_by_one = [isinstance(a, Drawn) and independent(a.view()) for a in sets[0]]
    told = contender.ask(
        "ready", side=contender.side.role, sets=msgspec.to_builtins(listed), independent=one_by_one,
        flush_bytes=plan.flush_bytes, compiled=compiled, copy_bytes=copy_bytes,
    )  # fmt: skip
    seconds = [told[k] if positive(told.get(k)) else 0.0 for k in ("overhead", "host", "flush")]
    return HostTimes(*map(float, seconds))


def at_once(*jobs: Callable[[], T]) -> list[T]:
    """The jobs' results, each from a thread of its own: they wait for different processes."""
    with ThreadPoolExecutor(max(1, len(jobs))) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]


def _models(session: Session, case: Case) -> tuple[bool, Making | None]:
    """Whether it is about models; then both are made, or the submission's still is."""
    model = session.task.kind == "model" and not case.entry
    making = Making(session, case) if model and together(session) else None
    if not making:
        session.problem.construct(case)
        if session.problem.has_weights:
            session.problem.new_weights()
    return model, making


def _questions(session: Session, case: Case, clock: _StageClock, plan: Plan | None) -> _Questions:
    """Draw the sets, as many as the plan wants, and compute the answers to the first."""
    problem = session.problem
    first = problem.arguments(case)
    taken_bytes = sum(a.storage.nbytes for a in first if isinstance(a, Drawn))
    clock.lap("inputs")
    posed = problem.pose()
    if not posed.tensors:
        raise FaultError(Status.NOT_GRADABLE, "Only calls that return tensors are timed.")
    compared = Comparison(session, case, posed)
    answers = [
        _Answer(w.output, w.lo, w.hi, *compared.wanted(w), compared.fair(w.output))
        for w in compared.windows()
    ]
    clock.lap("answers")
    plan = plan or make_plan(taken_bytes, posed.nbytes, l2_bytes=L2_BYTES)
    sets = [first, *(problem.arguments(case) for _ in range(plan.sets - 1))]
    clock.lap("inputs")
    outputs = [(tensor.shape, tensor.dtype) for tensor in posed.tensors]
    return _Questions(sets, outputs, answers, plan)


def _baselines(session: Session, asked: _Questions, modes: tuple[str, ...], copy_bytes: int) -> _Baselines:
    """What is timed in the reference's process: eager PyTorch, compiled by ``modes``, and a copy."""
    sets, plan = asked.sets, asked.plan
    eager = Contender(EAGER, session.reference)
    times = hand_over(eager, sets, plan)
    found = _Baselines(eager, times, hosts=[times.host_s])
    for mode in modes:
        if mode != SOLUTION:
            found.others.append(Contender(mode, eager.side))
            found.hosts.append(hand_over(found.others[-1], sets, plan, compiled=mode).host_s)
    if copy_bytes:
        found.others.append(Contender(COPY, eager.side))
        hand_over(found.others[-1], [[]], plan, copy_bytes=copy_bytes)
    return found


def _solution(session: Session, case: Case, making: Making | None, *, model: bool) -> Contender:
    """The course's own solution in a process of its own, with the submission's weights."""
    problem = session.problem
    if session.solution is None or (model and making is None) or not isinstance(problem, LessonProblem):
        raise FaultError(Status.NOT_GRADABLE, "There is no solution to race against here.")
    side = Side("submission", session.solution())
    if making:
        making.also(side)
    else:
        problem.make(case, side)
    return Contender(SOLUTION, side)


def _flushes(hosts_s: list[float], flush_s: float) -> int:
    """How often the cache is overwritten before a call, for all the same.

    As often as it takes to keep the device busy until the slowest host has made its call.
    """
    return min(MOST_FLUSHES, max(1, math.ceil(HOST_MARGIN * max(hosts_s) / max(flush_s, 1e-5))))


def _bound(submission: Contender, asked: _Questions) -> float:
    """Judge a block's results as those of any case; how far later ones may lie from the reference's.

    Four times the distance that a judged result has, relative to the root mean square of the right one.
    """
    submission.repeat([0, 0], None)
    far = FLOOR
    for found in fetch(submission, [0], asked.outputs):
        for part in asked.answers:
            got = found[part.output].reshape(-1)[part.lo : part.hi]
            if not right(part.answer, part.eager, got, part.by):
                verdict = judge(part.answer, part.eager, got, (), part.by)
                raise FaultError(verdict.status, f"A call between timed ones: {verdict.message}")
            far = max(far, distance(got, part.eager))
    return 4 * far


def _eager_seconds(eager: Contender, flushes: int, overhead_s: float) -> float:
    """About how long a call of the reference takes; its word is trusted."""
    eager.run_block([0, 1, 0, 1, 0], 0, flushes=flushes)
    return max(1e-9, median(eager.blocks.calls.pop()) - overhead_s)
