"""What is told of several errors in memory."""

from grader.domain.verdict import Status
from grader.feedback import memory
from grader.protocol.messages import MemoryFinding


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
