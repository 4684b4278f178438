"""What back ends tell: each message is one form, and whatever has another form is refused."""

from __future__ import annotations

import json
import socket
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.protocol import claims, messages, wire
from grader.protocol.messages import (
    BuildReply,
    Counts,
    Launch,
    LineRequests,
    MemoryFinding,
    Observed,
    OtherSide,
    Ownership,
    Ready,
    TensorPlace,
    Timed,
    Writer,
    decode,
    plain,
)
from grader.referee.process.connection import Connection

FORMS: tuple[type[Any], ...] = (Observed, Timed, Ownership, Ready, BuildReply)
LINE = LineRequests(4, 16, 0, 128, 16, file="mine.py", line=7, what="global_load", size=4)
LAUNCH = Launch("square", (4, 1, 1), (256, 1, 1), counts=Counts(read_bytes=64, lines=(LINE,)), file="mine.py")
FINDING = MemoryFinding(
    kind="global-race", kernel="square", what="writes element 3", file="mine.py", line=7, block=(0, 0, 0),
    thread=(1, 0, 0), count=3, tensor=TensorPlace(1, "float32[4]", 16, 4, 12),
    other=OtherSide("mine.py", 8, (0, 0, 0), (2, 0, 0), "read"),
)  # fmt: skip
TOLD: dict[str, Any] = json.loads(json.dumps(plain(Observed((FINDING,), (LAUNCH,)))))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each part of a message."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    """A copy with another part at the end of the way."""
    if not path:
        return part
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], part)
    return copy


def heard(message: dict[str, Any], stage: str = "call") -> Any:
    """How the referee's side of a connection takes this answer."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        talk = Connection(wire.Channel(ours), None, 1.0)
        wire.Channel(theirs).send({"turn": None, "answer": {"kind": "value", "value": 1}} | message)
        return talk.expect(stage, 1.0, "answer")


def test_what_is_told_arrives_as_it_was() -> None:
    answer = heard(TOLD)
    assert (answer.findings, answer.launches) == ((FINDING,), (LAUNCH,))


def test_a_finding_is_published_without_what_was_not_said() -> None:
    bare = MemoryFinding(kind="race", kernel="f", what="a write", line=None, block=None, thread=None)
    assert set(bare.as_json()) == {"kind", "kernel", "what", "line", "block", "thread"}
    assert FINDING.as_json()["thread"] == [1, 0, 0]
    assert set(FINDING.as_json()) == set(bare.as_json()) | {"file", "count", "tensor", "other"}


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(st.sampled_from(FORMS), json_values)
def test_garbage_is_refused_or_has_the_form(form: type[Any], claim: Any) -> None:
    try:
        made = decode(claim, form)
    except wire.MalformedError:
        return
    assert isinstance(claim, dict) and set(claim) <= set(form.__struct_fields__)
    assert decode(json.loads(json.dumps(plain(made), allow_nan=False)), form) == made


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(st.sampled_from(places(TOLD)), json_values)
def test_one_part_that_is_wrong_spoils_all_or_fits(path: tuple[Any, ...], part: Any) -> None:
    claim = changed(TOLD, path, part)
    try:
        made = decode(claim, Observed)
    except wire.MalformedError:
        return
    json.dumps([f.as_json() for f in made.findings], allow_nan=False)  # so it is published
    json.dumps(plain(made), allow_nan=False)
    for launch in made.launches:
        numbers = msgspec.structs.astuple(launch.counts.global_load) if launch.counts else ()
        assert all(type(n) is int and 0 <= n < 1 << 62 for n in numbers)


WRONG: list[tuple[tuple[Any, ...], Any]] = [
    (("findings",), 3),
    (("findings", 0), "race"),
    (("findings", 0, "kind"), 7),
    (("findings", 0, "line"), -1),
    (("findings", 0, "line"), True),
    (("findings", 0, "line"), 10_000_000),
    (("findings", 0, "block"), [0, 0]),
    (("findings", 0, "thread"), [0, 0, -1]),
    (("findings", 0, "thread"), [0, 0, "0"]),
    (("findings", 0, "what"), "x" * (messages.MOST_TEXT + 1)),
    (("findings", 0, "count"), 1 << 70),
    (("findings", 0, "severity"), "harmless"),
    (("findings", 0, "other"), {}),
    (("findings", 0, "tensor", "offset"), 1 << 70),
    (("findings", 0, "check"), "mine"),
    (("findings", 0), {"kind": "race"}),
    (("findings",), [TOLD["findings"][0]] * (messages.MOST_FINDINGS + 1)),
    (("launches",), {}),
    (("launches", 0, "kernel"), None),
    (("launches", 0, "grid"), [1, 1, 1, 1]),
    (("launches", 0, "counts"), 3),
    (("launches", 0, "counts", "read_bytes"), -4),
    (("launches", 0, "counts", "read_bytes"), 0.5),
    (("launches", 0, "counts", "written_bytes"), 1 << 80),
    (("launches", 0, "counts", "operations"), {"flops": "many"}),
    (("launches", 0, "counts", "active_lanes"), 33),
    (("launches", 0, "counts", "lines", 0, "what"), "__class__"),
    (("launches", 0, "counts", "lines", 0, "file"), 1),
    (("launches", 0, "counts", "lines", 0), None),
    (("launches", 0, "seconds"), -1),
    (("launches", 0, "seconds"), True),
    (("launches", 0, "more"), 1),
    (("launches",), [{}] * (messages.MOST_LAUNCHES + 1)),
]


@pytest.mark.parametrize(("path", "part"), WRONG)
def test_a_claim_of_another_form_is_refused_whole(path: tuple[Any, ...], part: Any) -> None:
    claim = json.loads(json.dumps(TOLD))
    claim = changed(claim, path[:-1], _part(claim, path[:-1]) | {path[-1]: part}) if isinstance(
        path[-1], str
    ) else changed(claim, path, part)  # fmt: skip
    with pytest.raises(wire.MalformedError, match="memory findings or launches of another form"):
        heard(claim)
    error = {"answer": None, "error": {"type": "RuntimeError", "message": "no"}}
    with pytest.raises(wire.MalformedError):
        heard(claim | error)


def _part(value: Any, path: tuple[Any, ...]) -> Any:
    return _part(value[path[0]], path[1:]) if path else value


@pytest.mark.parametrize(
    ("stage", "claim"),
    [
        ("owner", {"owner": None}),
        ("owner", {"seen": 1}),
        ("owner", {"seen": True, "writer": {"kernel": "f"}}),
        ("owner", {"kernels": "square"}),
        ("owner", {"kernels": [1]}),
        ("owner", {"kernels": [None] * (messages.MOST_ASKED + 1)}),
        ("owner", {"traced": True, "last": {"kernel": "f", "grid": "all"}}),
        ("command", {"launches": [{"kernel": 3}]}),
        ("command", {"launches": [], "more": 1}),
        ("command", {"launches": [{}] * (messages.MOST_TIMED + 1)}),
        ("start", {"torch": 2}),
        ("start", {"confined": [1]}),
    ],
)
def test_so_is_an_answer_about_owners_launches_or_versions(stage: str, claim: dict[str, Any]) -> None:
    with pytest.raises(wire.MalformedError, match="of another form"):
        heard({"answer": claim}, stage)


@pytest.mark.parametrize(
    "claim",
    [
        Ownership(),
        Ownership(seen=True),
        Ownership(seen=True, writer=Writer("f", (0, 0, 0), (1, 0, 0), "mine.py", 3)),
        Ownership(kernels=("f", None)),
        Ownership(traced=True, last=LAUNCH),
    ],
)
def test_an_owner_of_any_back_end_arrives(claim: Ownership) -> None:
    answer = heard({"answer": plain(claim)}, "owner")
    assert decode(answer.data, Ownership) == claim


def test_an_act_that_tells_of_no_launches_may_tell_anything() -> None:
    assert claims.check("command", {"trials": [{"launches": 3}]}) == {"trials": [{"launches": 3}]}
