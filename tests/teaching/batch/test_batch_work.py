"""What a worker answers, as it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.verdict import Status
from grader.referee import pipeline
from grader.referee.job import Outcome
from grader.referee.process import pool_client
from grader.teaching.batch import batch_work, grading_key
from grader.teaching.batch.batch_work import Order

if TYPE_CHECKING:
    from pathlib import Path

    from grader.referee.job import Job


def test_a_verdict_names_the_students_own_file() -> None:
    verdict = batch_work.ungraded(lessons.find("03"), "simt", "submission.py, line 34: resubmission.pyc")
    (first, *rest) = verdict.findings
    seen = {"file": "submission.py", "lines": ["submission.py:3", 3]}
    verdict = replace(verdict, findings=(replace(first, evidence=seen), *rest))
    own = batch_work.called(verdict, r"ann\1 (2).py")
    assert own.submission == r"ann\1 (2).py" and own.status is Status.NOT_GRADABLE
    assert own.findings[0].message == r"ann\1 (2).py, line 34: resubmission.pyc"
    assert own.findings[0].evidence == {"file": r"ann\1 (2).py", "lines": [r"ann\1 (2).py:3", 3]}
    assert own.points == verdict.points and len(own.findings) == len(verdict.findings)


@pytest.mark.parametrize(
    ("status", "times"),
    [(Status.TIMEOUT, 2), (Status.OUT_OF_MEMORY, 2), (Status.WRONG_OUTPUT, 1), (Status.PASSED, 1)],
)
def test_what_another_file_on_the_gpu_may_have_caused_is_judged_again_alone(
    status: Status, times: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever the other one did, the second verdict is the one that counts."""
    alone: list[bool] = []

    def check(job: Job) -> Outcome:
        alone.append(job.alone)
        verdict = batch_work.ungraded(lessons.find("03"), "cuda", "said")
        (first, *_) = verdict.findings
        found = replace(first, status=Status.PASSED if job.alone else status)
        return Outcome(replace(verdict, findings=(found,)), [], [])

    lesson = lessons.find("03")
    order = Order(
        "k", "03", grading_key.task_version(lesson.folder, ""), "x = 1\n", GradingOptions(backend="cuda")
    )
    monkeypatch.setattr(pipeline, "check", check)
    monkeypatch.delenv(pool_client.VARIABLE, raising=False)
    monkeypatch.setenv(pool_client.LENT, str(tmp_path / "socket"))
    answer = batch_work.read_answer(batch_work.grade(order.text()))
    assert alone == [False, True][:times]
    assert answer.verdict is not None
    assert answer.verdict.findings[0].status is (Status.PASSED if times == 2 else status)
