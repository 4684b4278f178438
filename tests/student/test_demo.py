"""The table at the end of ``course demo``."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from grader.backends import detect
from grader.domain import lessons
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
    def graded(jobs: list[Job], order: list[int]) -> Iterator[Iterator[Outcome]]:
        yield (Outcome(starter if n % 2 == 0 else solution, [], []) for n in range(len(jobs)))

    monkeypatch.setattr(demo, "graded", graded)
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    assert demo.run(console, detect.Choice("cuda", "a test"))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "9/9 +11" in said and f"Points after a + wait for {machine}" in said
    assert "…" not in said.partition("course demo")[2]  # the table is whole


def test_what_is_shown_keeps_its_order_while_starters_of_the_end_begin_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []

    def check(job: Job) -> Outcome:
        begun.append(f"{job.submission.path.parent.name[:2]} {job.submission.path.stem}")
        ok = job.submission.path.stem == "solution"
        finding = Finding("a", Status.PASSED if ok else Status.FAILED, "", 20 * ok, 20)
        return Outcome(Verdict(job.submission.path.parent.name, "", "simt", "", (finding,), 1.0), [], [])

    monkeypatch.setattr(demo, "check", check)
    monkeypatch.setattr(demo, "AT_ONCE", 1)
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    assert demo.run(console, detect.Choice("simt", "a test"))
    assert begun[:3] == ["01 exercise", "01 solution", "02 exercise"]
    assert {name.split()[1] for name in begun[-6:]} == {"exercise"}
    assert sorted(begun) == sorted(set(begun)) and len(begun) == 2 * len(lessons.every())
    shown = [line.split()[0] for line in console.file.getvalue().splitlines() if " points" in line]  # type: ignore[attr-defined]
    assert shown[:-1] == sorted(shown[:-1])
