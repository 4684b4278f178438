"""Whatever a player says, the referee ends with a status: ten thousand conversations of random bytes."""

import json
import socket
import struct
from typing import Any, cast

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Status
from grader.protocol import wire
from grader.protocol.arena import Arena
from grader.protocol.messages import BuildReply, Facts
from grader.referee import grading
from grader.referee.fault import FaultError
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process import exit_reason
from grader.referee.process.connection import Answer, Connection
from grader.referee.process.player_process import Limits
from grader.referee.session import Session
from grader.referee.side import Reference
from tests.referee.in_process import InProcess

TURN = 7
MANY = settings(max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))  # minutes
FEWER = settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
STAGES = ("load", "construct", "call", "owner", "given", "time", "command", "set_state")

WORDS = (
    "answer error build notice turn findings launches kind tensors shape dtype device type plain container "  # noqa: SIM905 (a list of words)
    "value float state owner kernels block thread line grid seconds watched ops message where file code "
    "build_begins build_ends call cuda float32 tensor name cuda_sources functions counts".split()
)
# fmt: off
PLAIN = (
    None, True, False, TURN, [4, 6], 0, -1, 1 << 70, 0.5, float("nan"), float("inf"), "", "é\0", "x" * 300
)
# fmt: on


class Choices:
    """Messages out of bytes: each byte is a choice. Ten times as fast as strategies inside strategies."""

    def __init__(self, data: bytes) -> None:
        self.data = iter(data)

    def one(self, things: Any) -> Any:
        return things[next(self.data, 0) % len(things)]

    def value(self, depth: int = 0) -> Any:
        kind = self.one("pppwwwldd" if depth < 4 else "pw")
        if kind == "p":
            return self.one(PLAIN)
        if kind == "w":
            return self.one(WORDS)
        if kind == "l":
            return [self.value(depth + 1) for _ in range(self.one(range(4)))]
        return self.table(depth)

    def table(self, depth: int = 0) -> dict[str, Any]:
        return {self.one(WORDS): self.value(depth + 1) for _ in range(self.one(range(6)))}

    def message(self) -> dict[str, Any]:
        if self.one([True, False]):
            return self.table()
        made = {self.one(["answer", "error"]): self.table(), "turn": TURN}
        for kind in ("findings", "launches"):
            if self.one([True, False]):
                made[kind] = [self.value() for _ in range(self.one(range(3)))]
        return made


told = st.binary(max_size=60).map(lambda data: Choices(data).value())
messages = st.binary(max_size=120).map(lambda data: Choices(data).message())


def frame(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def text(message: Any) -> bytes:
    return json.dumps(message).encode()  # NaN and infinity included, which are no JSON


frames = st.binary(max_size=40) | st.binary(max_size=40).map(frame) | messages.map(text).map(frame)
streams = st.builds(
    lambda parts, cut: b"".join(parts)[: cut if cut >= 0 else None],
    st.lists(frames, max_size=4), st.just(-1) | st.integers(0, 200),
)  # fmt: skip


def ended(stream: bytes, stage: str, build: Any) -> Answer | FaultError:
    """How the referee's side of a conversation ends when this is all that comes, and then silence."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        talk = Connection(wire.Channel(ours), build, 0.2)
        talk._turn = TURN
        theirs.sendall(stream)
        theirs.shutdown(socket.SHUT_WR)
        try:
            return talk.expect(stage, 0.5, "answer")
        except FaultError as fault:
            return fault
        except wire.ClosedError:
            return exit_reason.ended(0, exit_reason.LastWords(b""), stage)
        except wire.WireError as error:
            return FaultError(Status.TAMPERED, str(error))


def check_bytes(stream: bytes, stage: str, *, builds: bool) -> None:
    result = ended(stream, stage, (lambda request: BuildReply(path="nowhere")) if builds else None)
    if isinstance(result, FaultError):
        assert isinstance(result.finding(stage).status, Status)
        json.dumps(result.finding(stage).as_json(), allow_nan=False)
    else:
        json.dumps(result.data, allow_nan=False)


@pytest.mark.slow
@FEWER
@given(streams, st.sampled_from(STAGES), st.booleans())
def test_any_bytes_end_in_an_answer_or_a_status(stream: bytes, stage: str, builds: bool) -> None:
    check_bytes(stream, stage, builds=builds)


@pytest.mark.thorough
@MANY
@given(streams, st.sampled_from(STAGES), st.booleans())
def test_so_do_many_more(stream: bytes, stage: str, builds: bool) -> None:
    check_bytes(stream, stage, builds=builds)


@pytest.mark.thorough
@pytest.mark.slow
@FEWER
@given(st.binary(max_size=300) | messages.map(text), st.integers(-70, 300), st.sampled_from(STAGES))
def test_any_last_words_end_in_a_status(said: bytes, code: int, stage: str) -> None:
    last = exit_reason.LastWords(said)
    for fault in (
        exit_reason.ended(code, last, stage),
        exit_reason.ended(None, last, stage),
        exit_reason.timeout(stage, last, 1),
    ):
        said_of_it = json.loads(json.dumps(fault.finding(stage).as_json(), allow_nan=False))
        assert said_of_it["status"] in set(Status)


class Liar:
    """A player that answers each request with whatever it was made to say; its arenas are real ones."""

    backend = "simt"
    compile_error = None
    seconds_building = 0.0
    stopped = False
    output = ""
    limits = Limits()

    def __init__(self, lies: list[Any]) -> None:
        self.inbox, self.outbox, self._lies = Arena.create("inbox"), Arena.create("outbox"), iter(lies)

    def ready(self) -> Facts:
        return Facts()

    def expect_alive(self) -> None:
        pass

    def ask(self, do: str, seconds: float, *, stage: str = "", **fields: Any) -> Answer:
        honest = {"load": {}}.get(do)
        message = {"answer": honest, "turn": TURN} if honest is not None else next(self._lies, {})
        result = ended(frame(text(message)), stage or do, None)
        if isinstance(result, FaultError):
            raise result
        return result

    def stop(self) -> None:
        self.inbox.close()
        self.outbox.close()


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


class Double(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * x


WEIGHT = {"kind": "parameter", "name": "weight", "shape": [3], "dtype": "float32"}
RIGHT = {"shape": [4, 6], "dtype": "float32", "device": "cuda", "type": "Tensor", "plain": True}
# What would be an answer, or is nearly one: to "make", to "call", and to what has nothing to say.
answers = st.builds(
    lambda message: message | {"turn": TURN},
    st.fixed_dictionaries(
        {"answer": st.fixed_dictionaries(
            {},
            optional={
                "tree": told | st.just({"t": 0}) | st.just({"l": [{"t": 0}]}),
                "tensors": told | st.just([RIGHT]),
                "state": told | st.just([]) | st.just([WEIGHT]),
                "work": told,
                "watched": told,
                "uncompiled": told,
                "kernels": told,
                "owner": told,
            },
        ) | st.just({}) | st.just({"state": [WEIGHT]}) | st.just({"tree": {"t": 0}, "tensors": [RIGHT]})},
        optional={"findings": st.lists(told, max_size=2), "launches": st.lists(told, max_size=2)},
    ),
)  # fmt: skip


@pytest.mark.slow
@SOME
@given(st.lists(answers | messages, max_size=12), st.sampled_from(["function", "model"]))
def test_a_match_against_a_liar_ends_with_a_record(lies: list[Any], kind: Any) -> None:
    cases = (Case("plain", (Tensor((4, 6)),)), Case("refused", (Tensor((4, 6)),), expect="raise"))
    task = Task(title="double", entry="double", kind=kind, cases=cases, memory_points=1, own="all")
    reference = InProcess(double=Double if kind == "model" else double)
    theirs = Reference(cast("Any", reference), __file__)
    session = Session(task, __file__, lambda: cast("Any", Liar(lies)), theirs, LessonProblem)
    try:
        record = grading.grade(session)
    finally:
        session.close()
        reference.stop()
    assert len(record.findings) == 4
    for finding in record.findings:
        assert isinstance(finding.status, Status)
        json.dumps(finding.as_json(), allow_nan=False)
    assert not record.findings[1].ok  # the outbox is still full of NaN


def test_an_end_by_itself_has_two_possible_reasons() -> None:
    said = exit_reason.ended(1, exit_reason.LastWords(b""), "call").message
    assert "or took away a file" in said  # which of the two, nobody can tell
