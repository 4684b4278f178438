"""What a grading does once a file is right: it is timed only where a speed is asked for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from grader.backends import detect
from grader.backends.detect import Choice
from grader.domain.lessons import find
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.verdict import PENDING
from grader.domain.within import within
from grader.referee import grading, pipeline
from grader.referee.job import Job, lesson_job
from grader.referee.parts.ratio import Ratio
from grader.referee.pipeline import Processes, check, wants_speed, warm
from grader.referee.timing.plan import PAIRS

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.domain.speed import Speed
    from grader.domain.verdict import Verdict
    from grader.referee.session import Session

NOTHING, PREDICTED, TIMED = (
    GradingOptions(), GradingOptions(with_prediction=True), GradingOptions(with_speed=True)
)  # fmt: skip


def job(number: str, backend: str, options: GradingOptions) -> Job:
    lesson = find(number)
    return lesson_job(lesson, read(lesson.solution), Choice(backend, "for the test"), options)


@pytest.mark.parametrize(
    ("options", "backend", "wanted"),
    [
        (NOTHING, "simt", False), (PREDICTED, "simt", True), (TIMED, "simt", True),
        (NOTHING, "cuda", False), (PREDICTED, "cuda", False), (TIMED, "cuda", True),
    ],
)  # fmt: skip
def test_a_race_is_run_only_where_it_is_asked_for(
    options: GradingOptions, backend: str, wanted: bool
) -> None:
    assert wants_speed(job("03", backend, options)) is wanted


def test_what_has_no_size_to_time_has_no_speed() -> None:
    def timer(_: Session) -> Speed | None:
        return None

    first = job("01", "cuda", TIMED)
    assert not wants_speed(first)
    assert wants_speed(replace(first, timer=timer))


@pytest.mark.parametrize(
    ("options", "backend", "forked", "begun"),
    [
        (TIMED, "cuda", False, [PAIRS]), (PREDICTED, "cuda", False, []), (TIMED, "simt", False, []),
        (TIMED, "cuda", True, []),
    ],
)  # fmt: skip
def test_a_race_that_is_asked_for_has_its_processes_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch, options: GradingOptions, backend: str, forked: bool, begun: list[int]
) -> None:
    """Not those that are forked: they are there in no time when they are needed."""
    monkeypatch.setattr(detect, "gpu_name", lambda: "NVIDIA H200")
    monkeypatch.setattr("grader.referee.pipeline.os.sched_getaffinity", lambda _: range(16))
    seen: list[int] = []
    forks: dict[str, Any] = {"cuda": object()} if forked else {}
    running = SimpleNamespace(
        job=replace(job("03", backend, options), forkservers=forks), _peers=SimpleNamespace(begin=seen.append)
    )
    Processes.expect_race(cast("Any", running))
    assert seen == begun


@pytest.mark.slow
def test_what_only_the_other_back_end_can_judge_keeps_nobody_from_a_speed() -> None:
    one = job("03", "simt", PREDICTED)
    ratio = next(part for part in find("13").task.parts if isinstance(part, Ratio))
    verdict = check(warm(replace(one, task=replace(one.task, parts=(*one.task.parts, ratio))))).verdict
    assert [f.id for f in verdict.findings if not f.ok] == ["ratio"] and verdict.speed is not None


def test_what_failed_is_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is told that a file is judged, and the verdict at the end, get the same sentences."""
    asked: list[float] = []

    def counted(seconds: float, work: Callable[[], Any]) -> Any:
        asked.append(seconds)
        return within(seconds, work)

    told: list[Verdict | None] = []
    lesson = find("01")
    starter = lesson_job(lesson, read(lesson.exercise), Choice("simt", "for the test"), NOTHING)
    monkeypatch.setattr(pipeline, "within", counted)
    verdict = check(warm(replace(starter, tell=lambda _stage, one: told.append(one)))).verdict
    (judged,) = [one for one in told if one]
    assert verdict.failed and judged.findings == verdict.findings
    assert len(asked) == 2  # the look at its text, and the causes


class Turns:
    """Notes what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def share(self) -> None:
        self.asked.append("share")

    def leave(self) -> None:
        self.asked.append("leave")

    def tools(self) -> list[Any]:
        """As the tools' findings."""
        self.asked.append("tools")
        return []

    def close(self) -> None:
        """Nothing is open."""


def test_the_gpu_is_shared_while_a_file_is_played_and_not_while_tools_are_waited_for() -> None:
    """A race of another grading waits for those who share it."""
    turns = Turns()
    tools = SimpleNamespace(findings=turns.tools)
    waits = SimpleNamespace(turns=turns, job=job("07", "cuda", NOTHING), _inspection=tools)
    with Processes(warm(job("07", "simt", NOTHING))) as running:
        running.turns = cast("Any", turns)
        running.session.inspect = lambda: Processes.inspected(cast("Any", waits))
        with running.turn():
            record = grading.grade(running.session)
    assert all(f.ok or f.status in PENDING for f in record.findings) and running.job.task.parts
    parts = ["share"] * len(running.job.task.parts)
    assert turns.asked == ["share", "leave", "tools", "share", *parts, "leave"]


def test_who_has_the_gpu_alone_neither_shares_nor_leaves_it() -> None:
    turns = Turns()
    alone = replace(job("07", "cuda", NOTHING), alone=True)
    waits = SimpleNamespace(turns=turns, job=alone, _inspection=SimpleNamespace(findings=list))
    Processes.share_gpu(cast("Any", waits))
    assert Processes.inspected(cast("Any", waits)) == [] and not turns.asked
