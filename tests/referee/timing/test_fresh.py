"""No two timed calls get the same input: what is remembered, or follows from it, is of no use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
import torch

from grader.domain.verdict import Status
from grader.player.commands import race_blocks as act
from grader.player.sides import side_of
from grader.player.timing.result_copies import copies
from grader.referee.fault import FaultError
from grader.referee.timing import setup
from grader.referee.timing.independent import independent
from tests.referee.in_process import InProcess
from tests.referee.timing.track import CASE, Track

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(5)
NORMAL = RNG.standard_normal((64, 48))


pytestmark = pytest.mark.usefixtures("few_resamples")


@pytest.mark.parametrize(
    "values",
    [NORMAL, NORMAL.astype(np.float16), NORMAL[0], NORMAL.T, RNG.random((3, 8, 8)), np.abs(NORMAL),
     np.where(RNG.random(NORMAL.shape) < 0.01, np.nan, NORMAL), np.tril(RNG.random((32, 32)) + 1)],
)  # fmt: skip
def test_what_is_drawn_at_random_may_be_changed_one_by_one(values: Any) -> None:
    assert independent(values)


@pytest.mark.parametrize(
    "values",
    [
        NORMAL @ NORMAL.T, NORMAL @ NORMAL.T * np.ones((2, 1, 1)), np.triu(NORMAL[:32, :32], 1) * 0,
        (lambda a: a - a.T)(NORMAL[:40, :40]), np.sort(NORMAL), np.sort(NORMAL)[:, ::-1], np.sort(NORMAL[0]),
        np.exp(NORMAL) / np.exp(NORMAL).sum(-1, keepdims=True), np.exp(NORMAL[0]) / np.exp(NORMAL[0]).sum(),
        NORMAL / np.linalg.norm(NORMAL, axis=-1, keepdims=True), (NORMAL > 0).astype(np.float32),
        np.eye(64, dtype=np.float32), np.zeros((5, 5)), RNG.integers(0, 9, (64, 64)), np.zeros((0, 4)),
        np.float32(3),
    ],
)  # fmt: skip
def test_what_keeps_a_promise_is_changed_as_a_whole(values: Any) -> None:
    assert not independent(np.asarray(values))


def step(own: act.TimedCalls, name: str, **fields: Any) -> dict[str, Any]:
    """A step of a race by the one contender of a stage."""
    stage = InProcess().stage
    stage.kept(act.Contenders, act.Contenders)["own"] = own
    return act.perform(stage, cast("Any", None), name, "own", **fields)


def ready(values: torch.Tensor, loose: bool) -> act.TimedCalls:
    whole = torch.arange(6)
    found = act.TimedCalls(lambda *_: None, [[values, 3, whole]], [loose, False, False], torch.empty(0))
    step(found, "prepare", calls=1)
    return found


@pytest.mark.parametrize("loose", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_a_seed_makes_the_same_inputs_in_two_processes_and_others_make_others(
    monkeypatch: pytest.MonkeyPatch, loose: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(act, "synchronize", lambda: None)
    monkeypatch.setattr(act, "Event", lambda **_: [])
    monkeypatch.setattr(act, "record", lambda event: event.append(0))
    given = torch.randn(32, 40, dtype=torch.float64).to(dtype).T
    one, two = ready(given, loose), ready(given.clone(), loose)
    act.fill(one, 0, 77)
    act.fill(two, 0, 77)
    first = one.sets[0][0].clone()
    assert torch.equal(first, two.sets[0][0]) and first.stride() == given.stride()
    ratio = (first.double() / given.double()).flatten()
    assert 0.49 < ratio.min() <= ratio.max() < 1.01
    assert bool(ratio.std() > 0.1) is loose
    assert one.sets[0][1] == 3 and torch.equal(one.sets[0][2], torch.arange(6))
    act.fill(one, 0, 78)
    assert not torch.equal(first, one.sets[0][0])
    act.fill(one, 0, None)
    assert torch.equal(one.sets[0][0], given)


def remembering(track: Track, key: Callable[[torch.Tensor], Any], work: Callable[..., torch.Tensor]) -> Any:
    """A player that works for 100 us, or for 1 us if it finds ``key`` of its input among earlier ones."""
    kept: dict[Any, tuple[torch.Tensor, torch.Tensor]] = {}

    def call(x: torch.Tensor) -> torch.Tensor:
        found = kept.get(key(x))
        track.clock.spend(1e-6 if found else 100e-6)
        if found is None:
            found = kept[key(x)] = x.clone(), work(x)
        return work(x, *found)

    return track.working(0.0, call)


def test_results_remembered_by_values_gain_nothing(track: Track) -> None:
    def work(x: torch.Tensor, before: torch.Tensor | None = None, out: torch.Tensor | None = None) -> Any:
        return torch.sigmoid(x) if out is None else out.clone()

    own = remembering(track, lambda x: tuple(x.flatten()[:8].tolist()), work)
    found = track.run(own, track.working(100e-6, torch.sigmoid)).against()
    assert found.outcome in ("same", "slower") and abs(found.ratio - 1) < 0.01


def test_what_is_linear_in_an_earlier_input_is_found(track: Track) -> None:
    """The set is recognised by its signs, and what was computed for it is scaled: no longer right."""

    def work(x: torch.Tensor, before: torch.Tensor | None = None, out: torch.Tensor | None = None) -> Any:
        right = (x @ torch.ones(x.shape[1], 4, dtype=x.dtype)).relu()
        return right if out is None or before is None else out * (x[0, 0] / before[0, 0])

    own = remembering(track, lambda x: tuple((x.flatten()[:64] > 0).tolist()), work)
    with pytest.raises(FaultError, match="another result") as caught:
        track.run(own, track.working(100e-6, work))
    assert caught.value.status is Status.WRONG_OUTPUT


def test_a_block_of_short_calls_finds_memory_and_events_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[list[int]] = []
    sizes: list[list[int]] = []
    monkeypatch.setattr(act, "synchronize", lambda: None)
    monkeypatch.setattr(act, "empty_cache", lambda: sizes.append([]))
    monkeypatch.setattr(act, "Event", lambda **_: made.append([]) or made[-1])
    monkeypatch.setattr(act, "record", lambda event: event.append(0))
    empty = torch.empty

    def taken(size: int, **_: Any) -> torch.Tensor:
        sizes[-1].append(size)
        return empty(size % 512, dtype=torch.uint8)  # of the others, sizes are whole sectors

    flush = empty(7, dtype=torch.uint8)
    found = act.TimedCalls(lambda *_: empty(2), [[torch.randn(4)]], [False], flush)
    monkeypatch.setattr(act.torch, "empty", taken)
    seen: set[tuple[int, int, int]] = set()
    for _ in range(100):
        made.clear()
        step(found, "prepare", calls=3, fresh=("memory", "events"))
        assert sizes[-1].pop() == found.flush.numel() == 7  # what overwrites the cache, after the others
        assert found.flush is not flush
        assert len(found.events) == 3 and all(len(before) == 1 for before, _ in found.events)
        large = sum(size > 1 << 20 for size in sizes[-1])  # where PyTorch's allocator draws the line
        seen.add((len(made), large, len(sizes[-1]) - large))
    for numbers in zip(*seen, strict=True):  # of events, of large pieces and of small ones
        assert len(set(numbers)) > 5
    before = len(sizes)
    step(found, "prepare", calls=3)
    assert len(sizes) == before and found.padding == []


class Device:
    """A host that takes 5 us for a record, and a device that takes 1: events are in order behind the rest."""

    def __init__(self) -> None:
        self.host = self.device = 0.0

    def do(self, host: float, device: float) -> float:
        self.host += host
        self.device = max(self.device, self.host) + device
        return self.device

    def synchronize(self) -> None:
        self.host = max(self.host, self.device)


@pytest.mark.parametrize("record", [5e-6, 60e-6])
def test_the_cost_of_events_is_the_devices_and_not_the_hosts(
    monkeypatch: pytest.MonkeyPatch, record: float
) -> None:
    device = Device()
    for name, value in {
        "record": lambda event: event.append(device.do(record, 1e-6)), "synchronize": device.synchronize,
        "overwrite": lambda _: device.do(4e-6, 60e-6), "now": lambda: device.host, "Event": lambda **_: [],
        "elapsed": lambda a, b: 1e3 * (b[-1] - a[-1]), "reset_persisting": lambda: None,
    }.items():  # fmt: skip
        monkeypatch.setattr(act, name, value)
    stage = InProcess().stage
    side_of(stage, "submission").target = lambda: torch.ones(1)
    what = {"side": "submission", "sets": [{"l": []}], "independent": [], "flush_bytes": 1}
    said = act.perform(stage, cast("Any", None), "ready", "own", **what)
    assert said["overhead"] == pytest.approx(1e-6)


@pytest.mark.parametrize("fresh", [(), ("memory",)])
def test_where_the_loop_waits_after_each_call_it_is_no_matter_whether_the_call_does(
    monkeypatch: pytest.MonkeyPatch, fresh: tuple[str, ...]
) -> None:
    device, calls = Device(), 8

    class Event(list[float]):
        def record(self) -> None:
            self.append(device.do(5e-6, 1e-6))

    def work(x: torch.Tensor) -> torch.Tensor:
        device.do(10e-6, 343e-6)
        return x

    def waits(x: torch.Tensor) -> torch.Tensor:
        value = work(x)
        device.synchronize()
        return value

    def copied(value: torch.Tensor, room: Any = ()) -> list[torch.Tensor]:
        device.do(30e-6, 8e-6)
        return [value]

    for name, value in {
        "Event": lambda **_: Event(), "record": Event.record, "elapsed": lambda a, b: 1e3 * (b[-1] - a[-1]),
        "synchronize": device.synchronize, "overwrite": lambda _: device.do(4e-6, 60e-6), "copies": copied,
        "fill": lambda *_: device.do(40e-6, 10e-6), "empty_cache": lambda: None, "elsewhere": list,
    }.items():  # fmt: skip
        monkeypatch.setattr(act, name, value)

    def more(target: Any, drain: bool) -> float:
        """Seconds a call that its times do not hold."""
        track = act.TimedCalls(target, [[torch.ones(3)], [torch.ones(3)]], [True], torch.empty(9))
        step(track, "prepare", calls=calls, fresh=fresh)
        begun = device.host
        said = step(track, "block", order=[0, 1] * (calls // 2), seed=1, flushes=2, drain=drain)
        return (device.host - begun - sum(said["seconds"])) / calls

    assert more(waits, True) - more(work, True) < 1e-6
    assert more(waits, False) - more(work, False) > 20e-6


@pytest.mark.parametrize("seconds", [1e-5, 3e-3])
def test_between_calls_nobody_asks_for_memory_for_the_results(track: Track, seconds: float) -> None:
    """A submission may have given back all that was free; what the driver then takes is not hidden work."""
    from torch.utils._python_dispatch import TorchDispatchMode

    names: list[str] = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(func.__name__.split(".")[0])
            return func(*args, **(kwargs or {}))

    player = track.working(seconds, lambda x: (torch.sigmoid(x), x.t().exp()))
    start = setup.set_up(track.session(player, track.working(seconds, player.stage.entry("work"))), CASE)
    start.submission.ask("prepare", calls=6, fresh=start.plan.fresh_for(start.eager_s))
    with Seen():
        start.submission.ask("block", order=[0, 1] * 3, seed=1, flushes=1)
    assert names.count("sigmoid") == 6 and names.count("copy_") >= 12
    last = len(names) - names[::-1].index("sigmoid")
    assert "sum" not in names[:last] and names[last:].count("sum") == 12
    assert not {"clone", "empty", "empty_like", "empty_strided", "full"} & set(names)


def test_a_result_of_another_form_is_copied_too() -> None:
    room, shorter, turned = [torch.zeros(4, 2)], torch.ones(3), torch.ones(2, 4).t()
    assert copies(torch.ones(4, 2), room)[0] is room[0] and torch.equal(room[0], torch.ones(4, 2))
    for value in (shorter, turned, room[0].double()):
        assert copies(value, room)[0] is not room[0]
        assert torch.equal(copies(value, room)[0], value)
