"""Of a wrong result: which recorded tensor it is of, and what may be said of who wrote it."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from grader.domain.task import Case
from grader.domain.thread_recording import COLUMNS, READS, WRITES, Head, Launch, Object, Seen
from grader.domain.verdict import Finding, Status
from grader.protocol.messages import MemoryFinding, OtherSide
from grader.referee import wrong_element
from grader.referee.replay import Played, Replay, Wanted
from grader.referee.wrong_element import Element

BEFORE = np.array([1, 2, 3, 4, 5, 6], "<f4").tobytes() + bytes([1] * 24)
AFTER = np.array([1, 2, 9, 4, 5, 6], "<f4").tobytes() + bytes([1] * 20 + [0] * 4)
IN = Object("tensor", "x", "float32", (2, 3), 24, 4, 0, 0)
OUT = Object("tensor", "out", "float32", (2, 3), 24, 4, 0, 48)
EVIDENCE: dict[str, Any] = {"first_wrong": [0, 2], "elements": 6, "got": 9.0, "expected": 3.5}


def test_the_tensor_is_the_one_that_holds_what_was_returned():
    assert wrong_element.find((IN, OUT), BEFORE + AFTER, EVIDENCE) == Element(1, 2, "out[0, 2]")


def test_or_the_one_that_the_launch_changed():
    assert wrong_element.find((IN, OUT), BEFORE + AFTER, EVIDENCE | {"got": 7.0}) == Element(
        1, 2, "out[0, 2]"
    )


@pytest.mark.parametrize(
    ("objects", "evidence"),
    [((IN, IN), EVIDENCE), ((OUT,), {"error": "no shape"}), ((OUT,), EVIDENCE | {"elements": 7}),
     ((OUT,), EVIDENCE | {"first_wrong": [2, 0]}), ((OUT,), EVIDENCE | {"first_wrong": [2]})],
)  # fmt: skip
def test_nothing_is_said_where_it_cannot_be_told(objects: tuple[Object, ...], evidence: dict[str, Any]):
    assert wrong_element.find(objects, BEFORE + AFTER, evidence) is None


def told(number: int, evidence: dict[str, Any] = EVIDENCE, out: Object = OUT) -> Seen:
    failed = Finding("a case", Status.WRONG_OUTPUT, "It is wrong.", 0, 1, evidence)
    return wrong_element.unwritten(out, Element(1, number, "out[0, 2]"), BEFORE + AFTER, failed, 7, 38)


def test_that_nobody_wrote_is_said_only_where_the_runtime_says_so():
    unkept = msgspec.structs.replace(OUT, before=-1, after=-1)
    owner = {"owner": {"block": [3, 0, 0], "thread": [0, 0, 0], "line": 24, "kernel": "k"}}
    start = "out[0, 2] is 9, expected 3.5: "
    assert told(5).title == start + "when this launch ends, no thread has written it"
    assert told(5, EVIDENCE | owner).block is None
    assert told(2).title == start + "nothing that was recorded wrote it"
    assert told(2, out=unkept).title == start + "nothing that was recorded wrote it"
    assert told(1).title.endswith("it holds what it held before the launch")
    by = told(2, EVIDENCE | owner)
    assert by.title == start + "line 24 wrote it, in block (3, 0, 0), which was not recorded"
    assert (by.block, by.line, by.access, by.element) == ((3, 0, 0), 38, -1, 2)


def test_the_last_write_of_the_element_is_found_and_no_read():
    events = [(WRITES, 1, 8), (WRITES, 1, 8), (READS, 1, 8), (WRITES, 0, 8), (WRITES, 1, 12)]
    columns = {name: np.zeros(len(events), kind) for name, kind in COLUMNS.items()}
    for name, values in zip(("op", "object", "offset"), zip(*events, strict=True), strict=True):
        columns[name][:] = values
    columns["size"][:] = 4
    assert wrong_element.last_write(columns, OUT, Element(1, 2, "")) == 1
    assert wrong_element.last_write(columns, OUT, Element(1, 5, "")) == -1


@pytest.mark.parametrize(
    ("shape", "element", "grid", "block"),
    [((37, 101), 96, (6, 2, 1), (5, 0, 0)), ((37, 101), 36 * 101, (6, 2, 1), (0, 1, 0)),
     ((150,), 149, (3, 1, 1), (2, 0, 0)), ((4, 8), 31, (4, 1, 1), (3, 0, 0)),
     ((5,), 4, (1, 2, 2), (0, 0, 0))],
)  # fmt: skip
def test_the_block_that_is_nearest_lies_in_the_grid_as_the_element_does_in_the_tensor(
    shape: tuple[int, ...], element: int, grid: tuple[int, int, int], block: tuple[int, int, int]
):
    launch = Launch("k", 1, 0, "a.py", 3, grid, (16, 1, 1), 0, 0)
    one = Object("tensor", "out", "float32", shape, 4 * int(np.prod(shape)), 4)
    head = Head("", "", "", "", "", launch, (), (one,), (), (), ())
    seen = Seen("wrong-result", 0, -1, -1, "", "", None, None, 3, object=0, element=element)
    assert wrong_element.nearest(head, seen) == block


def test_both_sides_of_the_first_two_kinds_of_findings_are_recorded():
    def found(kind: str, block: int, other: int = -1) -> MemoryFinding:
        side = OtherSide("a.py", 3, (other, 0, 0), (0, 0, 0), "write") if other >= 0 else None
        return MemoryFinding(
            kind=kind, kernel="k", what="", line=3, block=(block, 0, 0), thread=(0, 0, 0), other=side
        )

    case = Case("a")
    seen = [found("global-race", 6, 2), found("global-out-of-bounds", 4), found("global-out-of-bounds", 5)]
    asked = Replay.__new__(Replay)._asked_for(Played(case, None, seen), Wanted())
    assert asked.blocks == ((4, 0, 0), (6, 0, 0), (2, 0, 0))
