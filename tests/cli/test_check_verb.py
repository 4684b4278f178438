"""What ``course check`` makes of what was typed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from grader.cli import check_verb
from grader.cli.check_verb import Shown, Subject
from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee.job import Outcome
from grader.referee.process import pool_client

if TYPE_CHECKING:
    from grader.referee.job import Job


class GradedError(Exception):
    """In place of a grading."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="players wait on Linux only")
@pytest.mark.parametrize(("word", "shared"), [("0", False), ("", True), ("1", True)])
def test_players_wait_for_the_next_command_where_that_is_wanted(
    word: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []

    def grade(job: Job) -> None:
        jobs.append(job)
        raise GradedError

    monkeypatch.setenv(pool_client.VARIABLE, word)
    monkeypatch.setattr(check_verb, "grade", grade)
    lesson = lessons.find("03")
    with pytest.raises(GradedError):
        check_verb.check(Subject("03", lesson.solution), GradingOptions(backend="simt"), Shown())
    assert (jobs[0].pools is not None) is shared
    assert jobs[0].pools is (pool_client.shared() if shared else None)


def test_the_checks_are_shown_before_a_search_begins_and_not_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = Finding(
        "ragged edges", Status.WRONG_OUTPUT, "First wrong: element [0, 0] is 1, expected 2.", 0, 2
    )
    verdict = Verdict("03_square_kernel", "mine.py", "simt", "simt", (failed,), 1.0)
    before: list[str] = []

    def grade(job: Job) -> Outcome:
        job.tell("loaded", None)
        job.tell("judged", verdict)
        assert capsys.readouterr().out == ""
        job.tell("search", verdict)
        before.append(capsys.readouterr().out)
        return Outcome(verdict, [], [])

    monkeypatch.setattr(check_verb, "grade", grade)
    lesson = lessons.find("03")
    assert check_verb.check(Subject("03", lesson.solution), GradingOptions(backend="simt"), Shown()) == 1
    after = capsys.readouterr().out
    assert "ragged edges" in before[0] and "mine.py" in before[0] and "0/2 points" not in before[0]
    assert "First wrong" in after and "0/2 points" in after and "mine.py" not in after
