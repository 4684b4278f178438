"""The table at the end of ``course demo``."""

import pytest

from grader.domain import lessons
from grader.domain.verdict import Finding, Status, Verdict
from grader.student import demo


@pytest.mark.parametrize(
    ("waits", "machine"), [(Status.PENDING_GPU, "a GPU"), (Status.PENDING_CPU, "the CPU back end")]
)
def test_points_that_wait_are_named_with_the_machine_that_they_wait_for(waits: Status, machine: str) -> None:
    findings = (Finding("a", Status.PASSED, "", 9, 9), Finding("b", waits, "", 0, 11))
    solution = Verdict("06_find_the_bug", "solution.py", "cuda", "NVIDIA H200", findings, 1.0)
    assert f"9/9 + 11 for {machine}" in demo.row(lessons.find("06"), solution, solution)
