"""What a student's words become: the options that a file is graded with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import typer

from grader.backends.detect import Choice
from grader.cli import check_verb, learn
from grader.domain.lessons import find
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee.job import lesson_job

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("more", "measured", "predicted"),
    [
        ({}, False, True),
        ({"time": True}, True, True),
        ({"baseline": ["default"]}, True, True),
        ({"reference": "reference.py"}, False, False),
        ({"reference": "reference.py", "time": True}, True, False),
        ({"reference": "reference.py", "profile": True}, True, False),
    ],
)
def test_a_speed_is_measured_only_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, object], measured: bool, predicted: bool
) -> None:
    seen: list[GradingOptions] = []
    monkeypatch.setattr(check_verb, "check", lambda _, options, *__: seen.append(options) or 0)
    if "reference" in more:
        more = more | {"reference": tmp_path / str(more["reference"])}
    with pytest.raises(typer.Exit):
        learn.check("03", **more)  # type: ignore[arg-type]
    assert (seen[0].with_speed, seen[0].with_prediction) == (measured, predicted)


@pytest.mark.parametrize(
    ("number", "backend", "status", "asked", "said"),
    [
        ("03", "cuda", Status.PASSED, False, True),
        ("03", "cuda", Status.PASSED, True, False),
        ("03", "simt", Status.PASSED, False, False),
        ("03", "cuda", Status.WRONG_OUTPUT, False, False),
        ("01", "cuda", Status.PASSED, False, False),
    ],
)
def test_who_could_have_a_file_timed_is_told(
    number: str, backend: str, status: Status, asked: bool, said: bool
) -> None:
    lesson = find(number)
    options = replace(GradingOptions(with_prediction=True), with_speed=asked)
    job = lesson_job(lesson, read(lesson.solution), Choice(backend, "for the test"), options)
    verdict = Verdict(lesson.name, "a.py", backend, "a GPU", (Finding("a", status, "", 1, 1),), 1.0)
    assert check_verb.timeable(job, verdict) is said
