"""What is told of several errors in memory."""

import re

import msgspec
import pytest

from grader.domain.exercise_stage import Stage
from grader.domain.lessons import course_root
from grader.domain.verdict import Status
from grader.feedback import memory
from grader.protocol.messages import MemoryFinding
from grader.referee.redact import FindingOfCase


def seen(kind: str, line: int) -> MemoryFinding:
    what = f"{kind} in line {line}"
    return MemoryFinding(
        kind=kind, what=what, kernel="k", file="mine.py", line=line, block=(0, 0, 0), thread=(1, 0, 0)
    )


def test_what_an_access_past_the_end_meets_is_no_error_of_its_own() -> None:
    status, message = memory.told([seen("out-of-bounds", 22), seen("uninit", 22), seen("race", 23)])
    assert status is Status.ILLEGAL_ACCESS
    assert "race in line 23" in message
    assert "uninit" not in message
    assert "more place" not in message
    assert "uninit in line 24" in memory.told([seen("out-of-bounds", 22), seen("uninit", 24)])[1]


def test_a_write_of_a_statement_over_several_lines_is_in_its_first_and_a_read_where_it_is() -> None:
    source = 'code = r"""\n__global__ void k(float* out) {\n    out[0] = f(1,\n        2);\n}\n"""\n'
    reads, writes = (msgspec.structs.replace(seen("race", 4), access=access) for access in ("read", "write"))
    assert [one.line for one in memory.at_statements([reads, writes, seen("race", 3)], source)] == [4, 3, 3]


def test_what_a_later_stage_has_not_written_yet_is_not_told_beside_the_first_ones_error() -> None:
    softmax, online = (
        FindingOfCase(**msgspec.structs.asdict(seen(kind, line)), check=check)
        for kind, line, check in (("not-written", 9, "whole rows"), ("shared-race", 24, "online"))
    )
    stages = (Stage("Three passes", 45, ("whole rows",)), Stage("Two passes", 40, ("online",)))
    found = memory.finding((softmax, online), 1, matched=True, stages=stages)
    assert found.status is Status.UNINITIALISED and "Also" not in found.message
    assert [one["line"] for one in found.evidence["seen"]] == [9, 24]
    assert memory.finding((online,), 1, matched=True, stages=stages).status is Status.RACE
    assert "Also" in memory.finding((softmax, online), 1, matched=True).message


def test_a_line_that_the_compiler_wrote_twice_is_counted_once_with_all_its_times() -> None:
    twice = [msgspec.structs.replace(seen("out-of-bounds", 36), count=n, block=(n, 0, 0)) for n in (2, 1)]
    other = msgspec.structs.replace(seen("out-of-bounds", 38), count=5)
    message = memory.told([*twice, other])[1]
    assert "block (2, 0, 0) thread (1, 0, 0); seen 3 times in all." in message
    assert "(1 more place in the source with such errors.)" in message


# What is told to the whole launch, as no thread's mistake.
OF_NO_THREAD = {"leak"}


def test_every_kind_that_the_back_end_tells_of_has_a_status_of_its_own() -> None:
    source = "".join(p.read_text() for p in (course_root() / "grader/backends/simt/csrc").glob("*.cpp"))
    told = set(re.findall(r'(?:report|report_host|refuse)\((?:w, )?"([a-z-]+)"', source))
    told |= set(re.findall(r'[?:] "([a-z]+-[a-z-]+)"', source)) - {"cluster-race"}
    assert len(told) > 25
    assert not [kind for kind in told - OF_NO_THREAD if not any(part in kind for part, _ in memory.KINDS)]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("division-by-zero", Status.WRONG_OUTPUT),
        ("bad-mask", Status.BARRIER),
        ("warp-exited-lanes", Status.BARRIER),
        ("shuffle-from-absent-lane", Status.BARRIER),
        ("not-cooperative", Status.BARRIER),
        ("double-free", Status.ILLEGAL_ACCESS),
        ("async-copy", Status.CUDA_ERROR),
        ("integer-overflow", Status.WRONG_OUTPUT),
    ],
)
def test_what_is_no_access_is_not_called_one(kind: str, status: Status) -> None:
    assert memory.status_of(kind) is status
