"""The race: blocks of calls of submission and baselines in turns, and a look at every timed result."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grader.clock import machine, witness
from grader.clock.interval import Interval, Pairs, interval
from grader.clock.plan import Plan, plan
from grader.clock.witness import Blocks
from grader.referee import exchange
from grader.referee.draw import Drawn
from grader.referee.exchange import Value
from grader.referee.fault import FaultError
from grader.referee.judge import judge
from grader.referee.oracle import Expected
from grader.referee.process import Player
from grader.task import Case
from grader.verdict import Status

if TYPE_CHECKING:
    from grader.referee.conduct import Match

Array = NDArray[Any]
SECONDS = 120.0
L2 = 64 << 20  # no card of the course has a larger cache
MOST_FLUSHES = 24
FETCH = 256 << 20  # bytes of results fetched at a time
FLOOR = 1e-6  # of the root mean square: what rounding alone may make
OWN, EAGER, COPY = "submission", "eager", "copy"


@dataclass(slots=True)
class Track:
    """One contender: its player, the name of its track there, and its blocks so far."""

    name: str
    player: Player
    blocks: Blocks = field(default_factory=Blocks)

    def block(self, order: list[int], factor: float, times: int) -> None:
        """Run one block; the times, and the seconds that passed here, go to ``blocks``."""
        begun = time.monotonic()
        data = self.ask("block", order=order, factor=factor, times=times)
        wall = time.monotonic() - begun
        said = data.get("seconds")
        if not isinstance(said, list) or len(said) != len(order) or not all(map(_positive, said)):
            raise FaultError(Status.TAMPERED, "The submission's process gave no times.")
        self.blocks.add([float(s) for s in said], wall)

    def ask(self, step: str, **fields: Any) -> dict[str, Any]:
        """A request to the track."""
        return self.player.ask("act", SECONDS, act="race", step=step, track=self.name, **fields).data


@dataclass(slots=True)
class Heat:
    """What a race has found. ``baselines`` by name, the first is the one that counts."""

    own: Blocks
    baselines: dict[str, Blocks]
    plan: Plan
    pairs: dict[str, Pairs]
    rounds: int = 0
    overhead: float = 0.0
    machine: dict[str, Any] = field(default_factory=dict)
    compared: int = 0

    def against(self, name: str = EAGER) -> Interval:
        """How many times as fast as that baseline."""
        return interval(self.pairs[name])


@dataclass(frozen=True, slots=True)
class Start:
    """Everybody in place: tracks with their inputs, what comes out, how far results may lie apart."""

    mine: Track
    eager: Track
    others: list[Track]
    plan: Plan
    outputs: list[tuple[tuple[int, ...], str]]
    bound: float
    overhead: float
    times: int


def line_up(
    match: Match, case: Case, baselines: tuple[str, ...] = (), copy: int = 0, how: Plan | None = None
) -> Start:
    """Make the models, give weights and sets of inputs, call everything a few times.

    ``case`` is that of a submission that was right; it is raced against eager and ``baselines`` (modes of
    torch.compile). ``copy``: bytes of a device copy that runs beside, to tell how fast memory is.
    """
    match.revive()
    own, oracle, entry = match.player, match.oracle.player, case.entry or match.task.entry
    assert own is not None
    if match.task.kind == "model" and not case.entry:
        match.construct(case)
        match.new_weights()
    first = match.arguments(case)
    expected = match.oracle.expect(case, first)
    if expected.is_value:
        raise FaultError(Status.NOT_GRADABLE, "Only calls that return tensors are timed.")
    taken = sum(a.storage.nbytes for a in first if isinstance(a, Drawn))
    how = how or plan(taken, sum(e.nbytes for e in expected.eager), l2_bytes=L2)
    sets = [first, *(match.arguments(case) for _ in range(how.sets - 1))]
    theirs = match.task.reference_entry or entry
    mine, eager = Track(OWN, own), Track(EAGER, oracle)
    others = [Track(name, oracle) for name in baselines]
    facts = _ready(eager, theirs, sets, how)
    host = [facts["host"], *(_ready(t, theirs, sets, how, compiled=t.name)["host"] for t in others)]
    if copy:
        others.append(Track(COPY, oracle))
        _ready(others[-1], theirs, sets[:1], how, copy=copy)
    host.append(_ready(mine, entry, sets, how)["host"])
    # For all the same: as often as it takes to keep the device busy until the slowest host has made its call.
    times = min(MOST_FLUSHES, max(1, math.ceil(1.5 * max(host) / max(facts["flush"], 1e-5))))
    bound = _bound(mine, how, expected)
    return Start(mine, eager, others, how, expected.outputs, bound, facts["overhead"], times)


def _ready(track: Track, entry: str, sets: list[list[Value]], how: Plan, **more: Any) -> dict[str, float]:
    """Hand the sets over, in one piece of shared memory; seconds: ``overhead``, ``host``, ``flush``."""
    slots = iter(exchange.pack(track.player, [a for args in sets for a in args if isinstance(a, Drawn)]))
    listed = [
        [{"slot": next(slots).as_json()} if isinstance(a, Drawn) else {"value": a} for a in args]
        for args in sets
    ]
    said = track.ask("ready", entry=entry, sets=listed, flush=how.flush, **more)
    return {
        key: float(said[key]) if _positive(said.get(key)) else 0.0 for key in ("overhead", "host", "flush")
    }


def _bound(mine: Track, how: Plan, expected: Expected) -> float:
    """Judge a block's results as those of any case; how far later ones may lie from the reference's.

    Four times the distance that a judged result has, relative to the root mean square of the right one.
    """
    mine.ask("block", order=[0, 0], factor=1.0)
    far = FLOOR
    for _, found in _fetch(mine, [0], expected.outputs):
        for answers, eager, got in zip(expected.answers, expected.eager, found, strict=True):
            verdict = judge(answers, eager, got)
            if verdict.status is not Status.PASSED:
                raise FaultError(verdict.status, f"A call between timed ones: {verdict.message}")
            far = max(far, _distance(got, eager))
    return 4 * far


def heat(match: Match, start: Start) -> Heat:
    """Blocks in turns, A B B A, in an order drawn for each round, until the interval is narrow enough.

    Raises FaultError with ``wrong_output`` if any timed result is not what it should be, and ``tampered`` if
    the clocks disagree.
    """
    mine, eager, others = start.mine, start.eager, start.others
    everyone = [mine, eager, *others]
    for track in everyone:
        track.blocks = Blocks()
    names = [t.name for t in everyone if t is not mine]
    baselines = {t.name: t.blocks for t in everyone if t is not mine}
    found = Heat(mine.blocks, baselines, start.plan, {name: [] for name in names}, overhead=start.overhead)
    begun, states = time.monotonic(), [machine.state()]
    while not _enough(found, time.monotonic() - begun):
        # Every digit of the inputs changes with it, so nothing of an earlier round is right in this one.
        factor = float(np.float32(match.rng.uniform(0.5, 1.0)))
        right = _expected(eager, start.plan, factor, start.outputs)
        order = [everyone[i] for i in match.rng.permutation(len(everyone))]
        times: dict[str, list[list[float]]] = {t.name: [] for t in everyone}
        for track in [*order, *reversed(order)]:
            calls = [0] * start.plan.calls if track.name == COPY else _order(start.plan, match.rng)
            track.block(calls, factor, start.times)
            times[track.name].append([max(s - start.overhead, 1e-9) for s in track.blocks.calls[-1]])
            if track is mine:
                found.compared += _compare(mine, calls, right, start.outputs, start.bound)
        for name in names:
            found.pairs[name] += list(zip(times[mine.name], times[name], strict=True))
        found.rounds += 1
        states.append(machine.state())
    found.machine = machine.over(states)
    if why := witness.disagreement(mine.blocks, eager.blocks):
        raise FaultError(Status.TAMPERED, why)
    return found


def _enough(heat: Heat, seconds: float) -> bool:
    how = heat.plan
    if heat.rounds < how.least:
        return False
    if heat.rounds >= how.most or seconds >= how.seconds:
        return True
    return heat.against().half_width <= how.precise


def _order(how: Plan, rng: np.random.Generator) -> list[int]:
    """Each set about equally often, in an order that cannot be foreseen, never twice in a row."""
    order = np.resize(rng.permutation(how.sets), how.calls)
    for at in range(how.sets, how.calls, how.sets):
        fresh = rng.permutation(how.sets)
        if fresh[0] == order[at - 1]:
            fresh = fresh[::-1]
        order[at : at + how.sets] = fresh[: how.calls - at]
    return [int(number) for number in order]


def _expected(
    eager: Track, how: Plan, factor: float, outputs: list[tuple[tuple[int, ...], str]]
) -> list[list[Array]]:
    """The reference's results for each set, multiplied by ``factor``."""
    eager.ask("block", order=list(range(how.sets)), factor=factor, keep=True)
    return [found for _, found in _fetch(eager, list(range(how.sets)), outputs)]


def _fetch(
    track: Track, calls: list[int], outputs: list[tuple[tuple[int, ...], str]]
) -> list[tuple[int, list[Array]]]:
    """Results of these calls, copied out of shared memory a few at a time."""
    size = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in outputs)
    step, found = max(1, FETCH // max(size, 1)), []
    for begin in range(0, len(calls), step):
        some = calls[begin : begin + step]
        fields, wanted, _ = exchange.offer(track.player, [], outputs * len(some))
        n = len(outputs)
        places = [fields["out"][i * n : (i + 1) * n] for i in range(len(some))]
        said = track.ask("results", calls=some, out=places).get("facts")
        shapes = [[list(shape), dtype] for shape, dtype in outputs]
        if said != [shapes] * len(some):
            raise FaultError(Status.WRONG_OUTPUT, "A timed call returned something else than before.")
        arrays = exchange.collect(track.player, wanted)
        found += [(call, arrays[i * n : (i + 1) * n]) for i, call in enumerate(some)]
    return found


def _compare(
    mine: Track,
    order: list[int],
    right: list[list[Array]],
    outputs: list[tuple[tuple[int, ...], str]],
    bound: float,
) -> int:
    """Compare every result of a block with the reference's; FaultError at the first that is wrong."""
    seen: dict[int, list[Array]] = {}
    for call, found in _fetch(mine, list(range(len(order))), outputs):
        before = seen.setdefault(order[call], found)
        same = (np.array_equal(_bits(a), _bits(b)) for a, b in zip(found, before, strict=True))
        if before is not found and all(same):
            continue
        for got, wanted in zip(found, right[order[call]], strict=True):
            far = _distance(got, wanted)
            if not far <= bound:
                message = "A timed call returned another result than the reference: the work is not done."
                raise FaultError(Status.WRONG_OUTPUT, message, distance=far if math.isfinite(far) else None)
    return len(order)


def _distance(got: Array, wanted: Array) -> float:
    """The largest difference, relative to the root mean square of what is wanted; infinite for NaN."""
    if not got.size or np.array_equal(got, wanted):
        return 0.0
    if got.dtype.kind != "f":
        return math.inf
    with np.errstate(invalid="ignore"):
        far = float(np.max(np.abs(got - wanted)))
    scale = math.sqrt(float(np.mean(np.square(wanted, dtype=np.float64)))) or 1.0
    return far / scale if math.isfinite(far) else math.inf


def _bits(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _positive(value: Any) -> bool:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return good and math.isfinite(value) and value > 0


def alone(match: Match, start: Start) -> Blocks:
    """Blocks of the reference once the submission's process has ended."""
    if match.player:
        match.player.stop()
        match.player = None
    eager = Track(EAGER, start.eager.player)
    for _ in range(4):
        eager.block(_order(start.plan, match.rng), 0.75, start.times)
    return eager.blocks
