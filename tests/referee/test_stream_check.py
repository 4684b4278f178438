"""The current stream, on a simulated device: the opinion is the same, whatever takes how long."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
import torch

from grader.backends.detect import Choice
from grader.domain.lessons import find
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Finding, Status
from grader.feedback.look import ON_DEFAULT_STREAM, Advice
from grader.protocol.messages import Facts, Launch
from grader.protocol.play import Node, ReturnedApart
from grader.referee import grading, stream_check
from grader.referee.fault import FaultError
from grader.referee.job import lesson_job
from grader.referee.lesson_problem import LessonProblem
from grader.referee.pipeline import check, warm_reference
from grader.referee.session import Session
from grader.referee.side import Reference
from grader.referee.stream_check import Opinion, Seen
from tests.player.simulated_gpu import SimulatedGpu, SimulatedStream
from tests.referee.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.referee.process.connection import Answer

HOSTS = {"a quick host": 0.0, "a slow host": 20e-3, "a host slower than the time": 80e-3}
CASES = (
    Case("nothing", (Tensor((0, 5)),), "", 1),
    Case("matrix", (Tensor((6, 5)),), "", 3),
    Case("row", (Tensor((1, 7)),), "", 2),
)


class OnGpu(InProcess):
    """A player with a device, of which it knows nothing else."""

    backend = "cuda"

    def __init__(self, *, gpu: bool, **names: Any) -> None:
        super().__init__(**names)
        self.stage.gpu = gpu

    def ready(self) -> Facts:
        return Facts()

    def ask(self, do: str, seconds: float, *, stage: str = "", **fields: Any) -> Answer:
        try:
            return super().ask(do, seconds, stage=stage, **fields)
        except RuntimeError as error:
            raise FaultError(Status.RAISED, str(error)) from error


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> SimulatedGpu:
    made = SimulatedGpu()
    made.install(monkeypatch)
    return made


def graded(
    folder: Path,
    double: Callable[..., Any],
    points: int = 0,
    cases: tuple[Case, ...] = CASES,
    source: str = "# square<<<1, 32>>>() stands in no string\n",
) -> dict[str, Finding]:
    """The findings of a session on the simulated device, by name."""
    (folder / "mine.py").write_text(source)
    task = Task("double", "double", cases, stream_points=points)
    theirs = Reference(cast("Any", OnGpu(gpu=False, double=lambda x: 2 * x)), __file__)
    mine = str(folder / "mine.py")
    session = Session(task, mine, lambda: cast("Any", OnGpu(gpu=True, double=double)), theirs, LessonProblem)
    return {f.id: f for f in grading.grade(session).findings}


def on_current(x: Any) -> Any:
    return 2 * x


def on_default(x: Any) -> Any:
    out = torch.zeros_like(x)
    with torch.cuda.stream(torch.cuda.default_stream()):
        out.copy_(2 * x)
    return out


def on_default_waited_for(x: Any) -> Any:
    out = on_default(x)
    torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
    return out


def own_and_waited_for(x: Any) -> Any:
    here, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        out = 2 * x
    here.wait_stream(side)
    return out


def own_beside_the_default(x: Any) -> Any:
    """Waits for the default stream, and is waited for there."""
    default, side = torch.cuda.default_stream(), torch.cuda.Stream()
    side.wait_stream(default)
    with torch.cuda.stream(side):
        out = 2 * x
    default.wait_stream(side)
    return out


def own_of_the_driver(x: Any) -> Any:
    """On a stream of cudaStreamCreate, which the driver keeps in order with the default stream."""
    default = cast("SimulatedStream", torch.cuda.default_stream())
    with torch.cuda.stream(cast("Any", SimulatedStream(default.device, blocking=True))):
        return 2 * x


def own_and_alone(x: Any) -> Any:
    """On a stream that waits for nothing and that nobody waits for."""
    with torch.cuda.stream(torch.cuda.Stream()):
        return 2 * x


def device_first(then: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        torch.cuda.synchronize()
        return then(x)

    return call


def device_last(before: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        out = before(x)
        torch.cuda.synchronize()
        return out

    return call


def looks_at_a_value(x: Any) -> Any:
    return 2 * x if float(x.sum()) < 1e9 else x


def long_work(then: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of 150 ms on the current stream comes first."""

    def call(x: Any) -> Any:
        torch.cuda._sleep(300_000_000)  # type: ignore[no-untyped-call]
        return then(x)

    return call


FOLLOW = {
    "current": on_current,
    "own, waited for": own_and_waited_for,
    "device first": device_first(on_current),
    "device last": device_last(on_current),
    "looks at a value": looks_at_a_value,
    "long work": long_work(on_current),
    "long work on its own stream": long_work(own_and_waited_for),
}
LEAVE = {
    "default": on_default,
    "default, waited for": on_default_waited_for,
    "own, beside the default one": own_beside_the_default,
    "own, of the driver": own_of_the_driver,
    "device first": device_first(on_default),
    "device last": device_last(on_default),
    "long work": long_work(on_default),
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("name", "follows"), [*((name, True) for name in FOLLOW), *((name, False) for name in LEAVE)]
)
def test_the_opinion_does_not_depend_on_the_host(
    name: str, follows: bool, host: str, tmp_path: Path, gpu: SimulatedGpu
) -> None:
    work = (FOLLOW if follows else LEAVE)[name]

    def double(x: Any) -> Any:
        gpu.pause(HOSTS[host])
        out = work(x)
        gpu.pause(HOSTS[host])
        return out

    found = graded(tmp_path, double)
    # With the default stream as the current one all of them are right.
    assert [found[c.name].status for c in CASES] == [Status.PASSED] * 3, found
    said = found[stream_check.NAME]
    assert (said.status, said.evidence["follows"]) == (Status.PASSED, follows), said
    assert ("current stream" in said.message) and ("zeros" not in said.message)


@pytest.mark.parametrize("host", HOSTS)
def test_who_waits_for_nobody_is_wrong_whatever_the_host_does(
    host: str, tmp_path: Path, gpu: SimulatedGpu
) -> None:
    def double(x: Any) -> Any:
        gpu.pause(HOSTS[host] / 4)
        return own_and_alone(x)

    found = graded(tmp_path, double)
    assert found["matrix"].status is Status.WRONG_OUTPUT
    assert "stream of its own" in found["matrix"].message
    assert found[stream_check.NAME].status is Status.NOT_RUN


@pytest.mark.parametrize(
    ("work", "status", "points"), [(on_current, Status.PASSED, 2), (on_default, Status.WRONG_STREAM, 0)]
)
def test_where_there_are_points_it_is_a_failure(
    work: Callable[..., Any], status: Status, points: int, tmp_path: Path, gpu: SimulatedGpu
) -> None:
    said = graded(tmp_path, work, points=2)[stream_check.NAME]
    assert (said.status, said.points, said.max_points) == (status, points, 2)


@pytest.mark.parametrize("wrong", [1, 6])
def test_cases_are_tried_until_every_launch_may_have_been_seen(
    wrong: int, tmp_path: Path, gpu: SimulatedGpu
) -> None:
    def double(x: Any) -> Any:  # the launch for matrices, and the one for a row
        return on_default(x) if len(x) == wrong else on_current(x)

    two = 'cuda = "matrix<<<1, 32>>>(); row<<<1, 32>>>();"\n'
    said = graded(tmp_path, double, points=2, source=two)[stream_check.NAME]
    assert said.status is Status.WRONG_STREAM and said.points == 0
    assert said.message.startswith("Not all of the work" if wrong == 1 else "The work does not go")
    said = graded(tmp_path, on_current, points=2, source=two)[stream_check.NAME]
    assert said.ok and said.evidence["follows"] is True


def test_where_no_input_is_on_the_device_nobody_asks(tmp_path: Path, gpu: SimulatedGpu) -> None:
    cases = (Case("on the CPU", (Tensor((6, 5), device="cpu"),)), CASES[0])
    assert stream_check.NAME not in graded(tmp_path, on_default, cases=cases)


def test_a_call_that_fails_on_another_stream_is_told_so(tmp_path: Path, gpu: SimulatedGpu) -> None:
    def double(x: Any) -> Any:
        if torch.cuda.current_stream() != torch.cuda.default_stream():
            raise RuntimeError("not here")
        return 2 * x

    said = graded(tmp_path, double)[stream_check.NAME]
    assert said.ok and said.evidence["follows"] is False and "not here" in said.message


def told(
    *, launched: bool, copied: bool, seconds: float = 1e-3, kernels: tuple[str, ...] = ()
) -> ReturnedApart:
    return ReturnedApart(Node(l=()), launched=launched, copied=copied, seconds=seconds, on_default=kernels)


@pytest.mark.parametrize(
    ("calls", "asked", "opinion"),
    [
        ([(True, told(launched=True, copied=True))], 1, Opinion(follows=True)),
        ([(False, told(launched=True, copied=True))], 1, Opinion(follows=False)),
        # The first time was too short, the second one was not.
        ([(True, told(launched=False, copied=False, seconds=0.2)), (True, told(launched=True, copied=True))],
         2, Opinion(follows=True)),
        # The current stream waits for the default one, or the host does: where the kernels ran counts.
        ([(True, told(launched=True, copied=False))] * 3, 3, Opinion(follows=True)),
        ([(True, told(launched=False, copied=False))] * 3, 3, Opinion(follows=True)),
        ([(True, told(launched=False, copied=False))] * 2
         + [(True, told(launched=False, copied=False, kernels=("add",)))],
         3, Opinion(follows=False, kernels=("add",))),
    ],
)  # fmt: skip
def test_what_is_seen_decides(calls: list[tuple[bool, ReturnedApart]], asked: int, opinion: Opinion) -> None:
    held: list[float] = []

    def call(hold_s: float) -> Seen:
        held.append(hold_s)
        return Seen(*calls[len(held) - 1])

    assert stream_check.follows(call) == opinion
    assert len(held) == asked and held[0] == stream_check.HOLD_S
    assert asked < 2 or held[1] == max(stream_check.HOLD_S, stream_check.TIMES * calls[0][1].seconds)
    assert asked < 3 or held[2] == 0.0


def test_what_was_seen_takes_the_place_of_a_guess_by_the_text() -> None:
    guess, other = Advice(3, ON_DEFAULT_STREAM, lasting=True), Advice(5, "A TODO is still here.")
    finding = Finding(stream_check.NAME, Status.PASSED, "seen", evidence={"follows": False, "line": 4})
    said = stream_check.advised([finding], [guess, other])
    assert said == [Advice(4, "seen", lasting=True), other]
    for nothing in ({"follows": True}, {"follows": None}, {}):
        found = [Finding(stream_check.NAME, Status.PASSED, evidence=nothing)]
        assert stream_check.advised(found, [guess, other]) == [guess, other]


def test_what_the_failed_check_says_is_no_advice_as_well() -> None:
    said, other = Advice(4, ON_DEFAULT_STREAM, lasting=True), Advice(9, ON_DEFAULT_STREAM, lasting=True)
    evidence = {"follows": False, "line": 4}
    failed = Finding(stream_check.NAME, Status.WRONG_STREAM, "told", 0, 1, evidence)
    assert stream_check.advised([failed], [said, other]) == [other]


def test_on_the_cpu_each_launch_has_its_stream() -> None:
    right, wrong = Launch("add", line=7), Launch("mul", line=9, default_stream=True)
    assert stream_check.of_launches([]) == Opinion(follows=None)
    assert stream_check.of_launches([right, right]) == Opinion(follows=True)
    beside = Launch("add", line=8, own_stream=True)
    assert stream_check.of_launches([right, beside]) == Opinion(follows=None, unseen=stream_check.BESIDE)
    assert stream_check.of_launches([beside, wrong]).follows is False
    launch = "k<<<1, 32, 0, at::cuda::getStreamFromPool()>>>(p);"
    own = Opinion(follows=False, kernels=("add",), line=8, own=True)
    assert stream_check.of_launches([right, beside], launch) == own
    for waits in (
        "cudaStreamWaitEvent(s, e, 0);",
        "cudaStreamSynchronize(s);",
        "s.synchronize();",
        "ready.block(s);",
    ):
        assert stream_check.of_launches([beside], waits + launch).unseen == stream_check.BESIDE
    assert stream_check.of_launches([beside], "def forward(x):").unseen == stream_check.BESIDE
    assert stream_check.of_launches([right, wrong]) == Opinion(follows=False, kernels=("mul",), line=9)


@pytest.mark.parametrize(
    ("backend", "says"),
    [
        pytest.param("simt", "default stream", marks=pytest.mark.slow),
        pytest.param("cuda", "current stream", marks=pytest.mark.gpu),
    ],
)
def test_a_lesson_that_promises_no_points_for_it_gives_advice(
    backend: str, says: str, tmp_path: Path
) -> None:
    lesson = find("03")
    text = lesson.solution.read_text().replace(", 0, at::cuda::getCurrentCUDAStream()>>>", ">>>")
    (tmp_path / "mine.py").write_text(text)
    job = lesson_job(lesson, read(tmp_path / "mine.py"), Choice(backend, "test"), GradingOptions())
    task = replace(job.task, memory_points=0, stream_points=0)
    outcome = check(warm_reference(replace(job, task=task)))
    verdict, (advice,) = outcome.verdict, [a for a in outcome.advice if a.lasting]
    assert verdict.ok and verdict.points == verdict.max_points == lesson.task.max_points - 3
    assert says in advice.message and "<<<grid, block>>>" in text.splitlines()[advice.line - 1]
    assert (stream_check.NAME in {f.id for f in verdict.findings}) is (backend == "cuda")
