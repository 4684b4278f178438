"""The table at the end of ``course demo``."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from grader.backends import detect
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee.job import Outcome
from grader.student import demo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.job import Job


@pytest.mark.parametrize(
    ("waits", "machine"), [(Status.PENDING_GPU, "a GPU"), (Status.PENDING_CPU, "the CPU back end")]
)
def test_points_that_wait_are_shown_and_the_machine_is_named(
    waits: Status, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = (Finding("a", Status.PASSED, "", 9, 9), Finding("b", waits, "", 0, 11))
    solution = Verdict("06_find_the_bug", "solution.py", "cuda", "NVIDIA H200", findings, 1.0)
    starter = replace(solution, findings=(Finding("a", Status.FAILED, "no", 0, 9),))

    @contextlib.contextmanager
    def graded(jobs: list[Job]) -> Iterator[Iterator[Outcome]]:
        yield (Outcome(starter if n % 2 == 0 else solution, [], []) for n in range(len(jobs)))

    monkeypatch.setattr(demo, "graded", graded)
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    assert demo.run(console, detect.Choice("cuda", "a test"))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "9/9 +11" in said and f"Points after a + wait for {machine}" in said
    assert "…" not in said.partition("course demo")[2]  # the table is whole
