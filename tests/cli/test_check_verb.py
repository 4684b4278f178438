"""What ``course check`` makes of what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.cli import check_verb
from grader.cli.check_verb import Shown, Subject
from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.referee.process import pool_client

if TYPE_CHECKING:
    from grader.referee.job import Job


class GradedError(Exception):
    """In place of a grading."""


@pytest.mark.skipif(
    not pool_client.pays("cuda"), reason="players wait on Linux only, unless that is switched off"
)
@pytest.mark.parametrize(("word", "shared"), [("0", False), ("1", True)])
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
