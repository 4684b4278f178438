"""What is told of several errors in memory."""

import msgspec

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


def test_a_write_of_a_statement_over_several_lines_is_in_its_first_and_a_read_where_it_is() -> None:
    source = 'code = r"""\n__global__ void k(float* out) {\n    out[0] = f(1,\n        2);\n}\n"""\n'
    reads, writes = (msgspec.structs.replace(seen("race", 4), access=access) for access in ("read", "write"))
    assert [one.line for one in memory.at_statements([reads, writes, seen("race", 3)], source)] == [4, 3, 3]
