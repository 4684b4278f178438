"""What a player tells of a recording is a claim: what cannot be is refused as a whole."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from grader.domain.thread_recording import EVENT
from grader.domain.verdict import Finding, Status
from grader.protocol import messages
from grader.protocol.recorded_launch import Answer, Recorded, RecordedBlock, RecordedObject
from grader.protocol.wire import MalformedError
from grader.referee.fault import FaultError
from grader.referee.replay_reading import About, Reading

SAID = Recorded(
    launch=1, fitting=0, kernel="k", file="a.py", line=3, grid=(2, 1, 1), block=(32, 1, 1), shared_bytes=0,
    static_shared_bytes=0, schedule=0, events=1, content_bytes=8,
    blocks=(RecordedBlock(0, 1, 0, 1),), seen=(),
    objects=(RecordedObject("tensor", "x", "Float[1]", 4, 4, 0, -1),),
    places=((16, "/a/a.py", 4),),
)  # fmt: skip
EVENTS = {"value": 0, "offset": 0, "pc": 16, "block": 0, "object": 0, "thread": 31, "op": 2, "size": 4}


def reading(said: Recorded = SAID, **event: int) -> Reading:
    events = np.array([tuple((EVENTS | event)[name] for name in EVENT.names or ())], EVENT)
    return Reading(said, events.tobytes() + bytes(8), About("a case"))


def test_what_is_possible_is_read():
    made = reading().recording()
    assert len(made) == 1
    assert made.head.objects[0].shape == (1,)
    assert made.head.places[int(made.columns["place"][0])].line == 4


@pytest.mark.parametrize("event", [{"block": 1}, {"thread": 32}, {"object": 1}, {"op": 16}])
def test_an_event_beyond_what_was_told_is_refused(event: dict[str, int]):
    with pytest.raises(FaultError) as told:
        reading(**event).recording()
    assert told.value.status is Status.TAMPERED


@pytest.mark.parametrize(
    "change",
    [{"block": (64, 32, 1)}, {"blocks": (RecordedBlock(2, 1, 0, 1),)}, {"blocks": ()},
     {"objects": (RecordedObject("tensor", "x", "", 4, 4, 4, -1),)},
     {"objects": (RecordedObject("tensor", "x", "", 4, 4, -2, -1),)}],
)  # fmt: skip
def test_a_head_that_cannot_be_is_refused(change: dict[str, Any]):
    with pytest.raises(FaultError):
        reading(msgspec.structs.replace(SAID, **change)).recording()


def test_more_events_than_may_be_are_no_message():
    claim = {"recorded": messages.plain(msgspec.structs.replace(SAID, events=1 << 40))}
    with pytest.raises(MalformedError):
        messages.decode(claim, Answer)


def test_an_index_that_points_nowhere_has_no_line():
    made = reading(pc=99).recording()
    assert made.head.places[int(made.columns["place"][0])].line == 0


@pytest.mark.parametrize(
    ("op", "known", "access", "title"),
    [(1, 1, 0, "it was written here"),
     (2, 1, -1, "nothing that was recorded wrote it, and it holds what it held before the launch"),
     (2, 0, -1, "when this launch ends, no thread has written it")],
)  # fmt: skip
def test_a_wrong_result_is_found_where_it_was_written_or_said_to_be_written_by_none(
    op: int, known: int, access: int, title: str
):
    events = np.array([tuple((EVENTS | {"op": op})[name] for name in EVENT.names or ())], EVENT)
    contents = np.array([2.0], "<f4").tobytes() + bytes([known] * 4)
    said = msgspec.structs.replace(SAID, objects=(RecordedObject("tensor", "x", "Float[1]", 4, 4, 0, 0),))
    evidence = {"first_wrong": [0], "elements": 1, "got": 2.0, "expected": 1.0}
    failed = Finding("a case", Status.WRONG_OUTPUT, "It is wrong.", 0, 1, evidence)
    (seen,) = (
        Reading(said, events.tobytes() + contents, About("a case", failed=failed, submission="a.py"))
        .recording()
        .head.findings
    )
    assert seen.title == f"x[0] is 2, expected 1: {title}"
    assert (seen.kind, seen.access, seen.object, seen.element) == ("wrong-result", access, 0, 0)
    assert seen.line == (4 if op == 1 else 3)
    assert seen.thread == ((31, 0, 0) if op == 1 else None)
    other = About("a case", failed=failed, submission="b.py")
    (seen,) = Reading(said, events.tobytes() + contents, other).recording().head.findings
    assert seen.line == (4 if op == 1 else 0)  # the launch is in no line of the submission
