"""Predictions whose answer is known are compared with it at once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.domain import lessons, result_value
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root
from grader.domain.task import Prediction
from grader.student import progress
from grader.student.loop import learn_verbs, predictions

if TYPE_CHECKING:
    from pathlib import Path

COUNTED = Prediction("requests", "How many requests?", "requests", 32_768, "Each of 32,768 warps makes one.")
QUICKER = Prediction(
    "float4_gain", "How many times as fast is float4?", "times",
    "times/elementwise-07/naive/median_us : times/elementwise-07/vector/median_us", "Fewer requests.",
)  # fmt: skip
NONE = Prediction("conflicts", "How many conflicts?", "", 0, "Every lane reads a bank of its own.")
MEASURED = Prediction("kernel_ratio", "How many times faster?", "times")


@pytest.fixture
def asked(work_folder: Path, monkeypatch: pytest.MonkeyPatch) -> lessons.Lesson:
    """Lesson 09 with questions of all kinds."""
    lesson = lessons.find("09")
    lesson = replace(lesson, task=replace(lesson.task, predictions=(COUNTED, QUICKER, NONE, MEASURED)))
    monkeypatch.setattr(learn_verbs, "wanted", lambda word: lesson)
    return lesson


def test_answers_are_shown_once_all_predictions_are_made(
    asked: lessons.Lesson, capsys: pytest.CaptureFixture[str]
) -> None:
    assert predictions.awaited(asked)
    learn_verbs.make_predictions("09", ["65536", "1,5", "0", "2"])
    said = capsys.readouterr().out
    assert "How many requests?\n  You: 65,536. Answer: 32,768 requests (2x too high).\n  Each of" in said
    assert "You: 1.5. Answer: 1.484 times (right).\n  Fewer requests." in said
    assert "You: 0. Answer: 0 (right).\n  Every lane" in said
    assert "Kept: kernel 2\n" in said and "./course check 09 will show your speed" in said
    assert not predictions.open_questions(asked)
    kept = progress.read().guesses[asked.name, "requests"]
    assert (kept.value, kept.found) == (65536, 32768)
    assert predictions.compared(asked) == []  # the speed is not there yet, and the others have been told
    assert "right" in predictions.dot(progress.read().guesses[asked.name, "conflicts"]).plain


def test_a_speed_waits_for_questions_about_it_only(asked: lessons.Lesson) -> None:
    known = replace(asked, task=replace(asked.task, predictions=(COUNTED,)))
    assert predictions.open_questions(known) and not predictions.awaited(known)


def test_zero_is_a_prediction_of_a_count_only(asked: lessons.Lesson) -> None:
    with pytest.raises(BadInputError, match="'0' is not a positive number"):
        learn_verbs.make_predictions("09", ["1", "1", "0", "0"])
    with pytest.raises(BadInputError, match="'-1' is not a number from 0 on"):
        learn_verbs.make_predictions("09", ["-1", "1", "0", "1"])
    assert len(predictions.open_questions(asked)) == 4


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("times/elementwise-07/naive", "no single number"),
        (
            "times/elementwise-7/naive/median_us",
            "at 'elementwise-7/naive/median_us' there is only elementwise",
        ),
        ("how/device", "no single number"),
        ("clocks/single_us/x", "no single number"),
    ],
)
def test_a_name_that_no_result_has_is_refused(name: str, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        result_value.find(name)


def test_a_name_may_hold_a_slash() -> None:
    measured = json.loads((course_root() / result_value.FILE).read_text("utf-8"))["compile_seconds"]
    assert result_value.find("compile_seconds/torch/extension.h") == measured["torch/extension.h"]


def test_a_prediction_says_what_it_lacks() -> None:
    with pytest.raises(ValueError, match="has an answer, but no why"):
        Prediction("sectors", "How many?", "", 4)
    with pytest.raises(ValueError, match="needs a name of letters"):
        Prediction("of sectors", "How many?")
