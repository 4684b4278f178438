"""Before a race: models made, weights and inputs handed over, everything called a few times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from grader.domain.task import Case
from grader.domain.verdict import Status
from grader.referee import transport
from grader.referee.draw import Drawn
from grader.referee.fault import FaultError
from grader.referee.judge import judge, right
from grader.referee.reference import Expected
from grader.referee.timing.independent import independent
from grader.referee.timing.models import Making, together
from grader.referee.timing.plan import Plan, plan
from grader.referee.timing.timed_results import Outputs, distance, fetch
from grader.referee.timing.track import COPY, EAGER, OWN, SOLUTION, Track, positive
from grader.referee.transport import Value

if TYPE_CHECKING:
    from grader.referee.session import Session

T = TypeVar("T")
L2 = 64 << 20  # only the RTX 4090 of the course's cards has a larger cache, and it is overwritten anyway
MOST_FLUSHES = 24
LEAD = 2.0  # times what a host usually takes to ask for a call
FLOOR = 1e-6  # of the root mean square: what rounding alone may make


@dataclass(frozen=True, slots=True)
class Start:
    """A pair of processes in place: tracks with their inputs, what comes out, how far results may differ.

    ``stages``: seconds of each step that led here; ``eager_seconds``: about what the reference's call takes;
    ``host``: seconds that the slowest host needs to ask for a call; ``step``: size and seconds of a step of
    the work before a row of calls; ``memory``: bytes of the device's; ``sets``: the inputs that
    were handed over.
    """

    session: Session
    mine: Track
    eager: Track
    others: list[Track]
    plan: Plan
    outputs: Outputs
    bound: float
    overhead: float
    times: int
    host: float
    step: tuple[int, float]
    memory: int
    eager_seconds: float
    stages: dict[str, float]
    sets: list[list[Value]]

    @property
    def tracks(self) -> list[Track]:
        """All contenders, the submission first."""
        return [self.mine, self.eager, *self.others]


def line_up(
    session: Session,
    case: Case,
    baselines: tuple[str, ...] = (),
    copy: int = 0,
    how: Plan | None = None,
    sets: list[list[Value]] | None = None,
) -> Start:
    """Make the models, give weights and sets of inputs, call everything a few times.

    ``case`` is that of a submission that was right; it is raced against eager and ``baselines`` (modes of
    torch.compile, or "solution"). ``copy``: bytes of a device copy that runs beside, to tell how fast memory
    is. ``sets``: these inputs instead of fresh ones.
    """
    stages: dict[str, float] = {}
    clock = _Steps(stages)
    session.revive()
    own, oracle, entry = session.player, session.oracle.player, case.entry or session.task.entry
    assert own is not None
    model, making = _models(session, case)
    clock.step("reference's model")
    first = sets[0] if sets else session.problem.arguments(case)
    taken = sum(a.storage.nbytes for a in first if isinstance(a, Drawn))
    clock.step("inputs")
    expected = session.oracle.expect(case, first)
    clock.step("answers")
    if expected.is_value:
        raise FaultError(Status.NOT_GRADABLE, "Only calls that return tensors are timed.")
    how = how or plan(taken, sum(e.nbytes for e in expected.eager), l2_bytes=L2)
    sets = sets or [first, *(session.problem.arguments(case) for _ in range(how.sets - 1))]
    clock.step("inputs")
    theirs = session.task.reference_entry or entry
    mine, eager = Track(OWN, own), Track(EAGER, oracle)
    others = [Track(name, oracle) for name in baselines if name != SOLUTION]
    facts = ready(eager, theirs, sets, how)
    host = [facts["host"], *(ready(t, theirs, sets, how, compiled=t.name)["host"] for t in others)]
    if copy:
        others.append(Track(COPY, oracle))
        ready(others[-1], theirs, sets[:1], how, copy=copy)
    if SOLUTION in baselines:
        others.append(_solution(session, model, making))
        host.append(ready(others[-1], entry, sets, how)["host"])
    clock.step("ready")
    if making:
        making.finish()
    clock.step("submission's model")
    host.append(ready(mine, entry, sets, how)["host"])
    clock.step("ready")
    times = _times(host, facts["flush"])
    bound = _bound(mine, expected)
    eager_seconds = _seconds(eager, times, facts["overhead"])
    clock.step("judge")
    told = eager.ask("lead")
    clock.step("ready")
    return Start(
        session, mine, eager, others, how, expected.outputs, bound, facts["overhead"], times, max(host),
        (told["size"], told["seconds"]), told["memory"], eager_seconds, stages, sets,
    )  # fmt: skip


def beside(session: Session, case: Case, like: Start) -> Start:
    """Another pair of processes for the race of ``like``, with the same inputs; both files are loaded.

    What a process did before it makes a short call changes what the call takes: on H200s by 0.2 us, and once
    by 1 us, for the very same kernel. So the two here are given the same and asked for the same in the same
    order. No answers are computed: the submission's calls were judged in ``like``. Baselines are timed in the
    process that has them already.
    """
    _, making = _models(session, case)
    if making:
        making.finish()
    assert session.player is not None
    mine, eager = Track(OWN, session.player), Track(EAGER, session.oracle.player)
    entry = case.entry or session.task.entry
    facts = ready(eager, session.task.reference_entry or entry, like.sets, like.plan)
    host = [facts["host"], ready(mine, entry, like.sets, like.plan)["host"]]
    others = [Track(t.name, t.player) for t in like.others]
    times, slowest = max(like.times, _times(host, facts["flush"])), max(like.host, *host)
    return replace(like, session=session, mine=mine, eager=eager, others=others, times=times, host=slowest)


def alike(pairs: Sequence[Start]) -> list[Start]:
    """The same, but the device is kept busy as long for all."""
    times, host = max(s.times for s in pairs), max(s.host for s in pairs)
    return [replace(s, times=times, host=host) for s in pairs]


def _models(session: Session, case: Case) -> tuple[bool, Making | None]:
    """Whether it is about models; then both are made, or the submission's still is."""
    model = session.task.kind == "model" and not case.entry
    making = Making(session, case) if model and together(session) else None
    if model and not making:
        session.problem.construct(case)
        session.problem.new_weights()
    return model, making


def _times(host: list[float], flush: float) -> int:
    """How often the cache is overwritten before a call, for all the same.

    As often as it takes to keep the device busy until the slowest host has made its call.
    """
    return min(MOST_FLUSHES, max(1, math.ceil(LEAD * max(host) / max(flush, 1e-5))))


def _solution(session: Session, model: bool, making: Making | None) -> Track:
    """The course's own solution in a process of its own, with the submission's weights."""
    if session.solution is None or (model and making is None):
        raise FaultError(Status.NOT_GRADABLE, "There is no solution to race against here.")
    player = session.solution()
    if making:
        making.also(player)
    return Track(SOLUTION, player)


def ready(track: Track, entry: str, sets: list[list[Value]], how: Plan, **more: Any) -> dict[str, float]:
    """Hand the sets over, in one piece of shared memory; seconds: ``overhead``, ``host``, ``flush``."""
    slots = iter(transport.pack(track.player, [a for args in sets for a in args if isinstance(a, Drawn)]))
    loose = [isinstance(a, Drawn) and independent(a.view()) for a in sets[0]]
    listed = [
        [{"slot": next(slots).as_json()} if isinstance(a, Drawn) else {"value": a} for a in args]
        for args in sets
    ]
    said = track.ask("ready", entry=entry, sets=listed, loose=loose, flush=how.flush, **more)
    return {
        key: float(said[key]) if positive(said.get(key)) else 0.0 for key in ("overhead", "host", "flush")
    }


def _bound(mine: Track, expected: Expected) -> float:
    """Judge a block's results as those of any case; how far later ones may lie from the reference's.

    Four times the distance that a judged result has, relative to the root mean square of the right one.
    """
    mine.repeat([0, 0], None)
    far = FLOOR
    for found in fetch(mine, [0], expected.outputs):
        for answers, eager, got in zip(expected.answers, expected.eager, found, strict=True):
            if not right(answers, eager, got):
                verdict = judge(answers, eager, got)
                raise FaultError(verdict.status, f"A call between timed ones: {verdict.message}")
            far = max(far, distance(got, eager))
    return 4 * far


def _seconds(eager: Track, times: int, overhead: float) -> float:
    """About how long a call of the reference takes; its word is trusted."""
    eager.block([0, 1, 0, 1, 0], 0, times)
    return max(1e-9, median(eager.blocks.calls.pop()) - overhead)


def at_once(*jobs: Callable[[], T]) -> list[T]:
    """The jobs' results, each from a thread of its own: they wait for different processes."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]


class _Steps:
    def __init__(self, stages: dict[str, float]) -> None:
        self.stages, self.begun = stages, time.monotonic()

    def step(self, name: str) -> None:
        """Seconds since the last step, added to ``name``."""
        now = time.monotonic()
        self.stages[name] = self.stages.get(name, 0.0) + now - self.begun
        self.begun = now
