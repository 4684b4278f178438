"""Elements that several threads read from device memory."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import read_again
from grader.feedback.explain.source_text import read

CODE = """code = r'''
__global__ void nearby_kernel(const float* x, float* out) {{
    const int t = threadIdx.x, i = t;
    {}
    {}
}}
'''
"""
THREE = "out[i] = (t > 0 ? x[i - 1] : 0) + x[i] + (t + 1 < 64 ? x[i + 1] : 0);"
MANY = "Counted 24 global load requests, allowed 8. One read of each element from device memory is enough, 32 in a request."


@pytest.mark.parametrize(
    ("before", "line", "message", "says"),
    [
        ("", THREE, f"{MANY} Line 5 makes 24 of them.", "reads 3 elements of x itself (`x[i - 1]`, `x[i]`, `x[i + 1]`)"),
        ("__shared__ float tile[64];", THREE, f"{MANY} Line 5 makes 24 of them.", ""),
        ("", "out[i] = x[i] * x[i];", f"{MANY} Line 5 makes 24 of them.", ""),
        ("", THREE, f"{MANY} Line 4 makes 24 of them.", ""),
        ("", THREE, "Counted 24 global load requests, allowed 8. Four numbers at once. Line 5 makes 24 of them.", ""),
        ("", THREE, MANY, ""),
    ],
)  # fmt: skip
def test_neighbours_that_each_thread_reads_itself(before: str, line: str, message: str, says: str) -> None:
    finding = Finding("read once", Status.FAILED, message)
    facts = [f for find, _ in read_again.FACTS for f in find(read(CODE.format(before, line)), finding)]
    assert [f.line for f in facts] == ([5] if says else [])
    assert all(says in f.cause and "nearby_kernel has no `__shared__` array" in f.cause for f in facts)
