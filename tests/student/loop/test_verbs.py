from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.cli.app import app
from grader.domain import lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.task import Stage
from grader.student import progress
from grader.student.loop import predictions
from grader.student.progress import Guess, LessonProgress

if TYPE_CHECKING:
    from pathlib import Path


def course(*words: str, ok: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False, env={"COLUMNS": "100"})
    assert done.exit_code == ok, done.output
    return str(done.output)


def passed(name: str) -> None:
    kept = progress.read()
    kept.lines[name] = LessonProgress(name, "passed", 20, 20, 1)
    kept.save()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package, in a folder in which nothing was laid out."""
    monkeypatch.delenv("COURSE_WORK", raising=False)
    monkeypatch.setattr(workspace, "from_wheel", lambda: True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", [[], ["progress"], ["progress", "--json"], ["predict", "03"]])
@pytest.mark.usefixtures("nowhere")
def test_without_a_folder_nothing_is_said_but_how_to_get_one(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadInputError, match="start my-course"):
        app(words, standalone_mode=False)
    assert capsys.readouterr().out == ""


def test_predictions_that_are_made_are_not_answered_by_silence(work_folder: Path) -> None:
    course("predict", "03", "1", "2", "3")
    assert "lesson 03 are made" in course("predict", "03")


def test_a_solution_for_a_file_has_the_lines_that_it_has(work_folder: Path) -> None:
    long = next(
        x for x in lessons.find("03").solution.read_text().splitlines() if "which thread of which" in x
    )
    assert len(long) > 100 and f"{long}\n" in course("solution", "03", "--yes")


def test_alone_it_says_where_you_are_and_what_to_type(work_folder: Path) -> None:
    text = course()
    assert "0/" in text
    assert "Begin with 01" in text
    assert str(work_folder / "01_hello_inline.py") in text or "01_hello_inline.py\n" in text
    assert "./course watch" in text
    passed("01_hello_inline")
    assert "Go on with 02" in course()


def test_when_all_is_done_it_says_so(work_folder: Path) -> None:
    for name in lessons.names():
        passed(name)
    assert "Every lesson is passed. ./course capstone" in course()
    assert course("hint")  # there is always a lesson to talk about


def test_the_list_shows_what_is_done(work_folder: Path) -> None:
    passed("01_hello_inline")
    rows = course("list").splitlines()
    assert next(r for r in rows if "hello_inline" in r).startswith("✓ 01")
    assert next(r for r in rows if "python_kernel" in r).startswith("→ 02")


def test_the_solution_has_no_marks_and_is_asked_for(work_folder: Path) -> None:
    with pytest.raises(BadInputError, match="add --yes"):
        course("solution", "03")
    text = course("solution", "03", "--yes")
    assert "square_kernel" in text
    assert "solution: begin" not in text
    assert "starter:" not in text
    assert "+++ solution" in course("solution", "03", "--yes", "--diff")
    passed("03_square_kernel")
    assert "square_kernel" in course("solution", "03")


def test_reset_asks(work_folder: Path) -> None:
    course("open", "03")
    with pytest.raises(BadInputError, match="A backup is kept"):
        course("reset", "03")
    assert "Yours is kept as" in course("reset", "03", "--yes")


def test_progress_for_programs(work_folder: Path) -> None:
    passed("01_hello_inline")
    data = json.loads(course("progress", "--json"))
    assert data["schema"] == "inline-to-fused/progress/v1"
    assert data["lessons"][0]["status"] == "passed"
    assert [x["lesson"] for x in data["lessons"]] == lessons.names()


def test_a_prediction_is_made_once(work_folder: Path) -> None:
    asked = [p.what for p in lessons.find("07").task.predictions]
    values = ["2.5x" if what == "kernel_ratio" else "1,01" for what in asked]
    assert "Kept: kernel 2.5" in course("predict", "07", *values)
    with pytest.raises(BadInputError, match="a prediction is made once"):
        course("predict", "07", "3")
    assert "2.5" in course("progress")


@pytest.mark.parametrize("text", ["", "fast", "-1", "0", "nan", "inf", "1e999"])
def test_a_prediction_is_a_positive_number(text: str) -> None:
    with pytest.raises(BadInputError, match="is not a positive number"):
        predictions.number(text)


@pytest.mark.parametrize("given", [[], ["1639"]])
def test_without_a_terminal_all_questions_are_shown_before_anything_is_kept(
    work_folder: Path, given: list[str]
) -> None:
    lesson = lessons.find("03")
    with pytest.raises(BadInputError) as caught:
        course("predict", "03", *given)
    said = str(caught.value)
    asked = [f"{k}. {one.question} [{one.unit}]" for k, one in enumerate(lesson.task.predictions, 1)]
    assert said.startswith("\n".join(["Lesson 03 asks for:", *asked]))
    assert "./course predict 03 1.5 2 30" in said and ("1 of 3 given" in said) is bool(given)
    assert predictions.open_questions(lesson) == list(lesson.task.predictions)


@pytest.mark.parametrize(("value", "at"), [(1.0, 15), (10.0, 30), (100.0, 30), (0.1, 0), (0.001, 0)])
def test_calibration_marks_how_far_off_a_prediction_was(value: float, at: int) -> None:
    assert predictions.dot(Guess("07_x", "kernel_ratio", value, 1.0)).plain.index("●") == at


def guessed(*pairs: tuple[float, float | None]) -> None:
    kept = progress.read()
    for k, (value, found) in enumerate(pairs):
        kept.guesses["07_fused_bias_relu", f"what{k}_ratio"] = Guess(
            "07_fused_bias_relu", f"what{k}_ratio", value, found
        )
    kept.save()


def test_a_prediction_is_set_beside_what_was_found(work_folder: Path) -> None:
    guessed((3.0, 1.5), (1.0, 1.01), (0.5, 2.0), (7.0, None))
    assert predictions.compared(lessons.find("07")) == [
        "You predicted 3 for the what0; found: 1.5 (2x too high).",
        "You predicted 1 for the what1; found: 1.01 (right).",
        "You predicted 0.5 for the what2; found: 2 (4x too low).",
    ]
    assert predictions.compared(lessons.find("08")) == []


@pytest.mark.slow
def test_the_calibration_as_a_picture(work_folder: Path, tmp_path: Path) -> None:
    guessed((3.0, 1.5), (1.0, 1.01), (7.0, None))
    assert "2 predictions drawn" in course("progress", "--picture", str(tmp_path / "plot.svg"))
    text = (tmp_path / "plot.svg").read_text()
    assert "<svg" in text and "too high" in text


@pytest.mark.slow
def test_why_there_is_no_picture(work_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInputError, match="No prediction has been compared yet"):
        course("progress", "--picture", str(tmp_path / "plot.svg"))
    guessed((3.0, 1.5))
    with pytest.raises(BadInputError, match=r"it must end in \.png, \.svg, \.pdf"):
        course("progress", "--picture", str(tmp_path / "plot.txt"))
    with pytest.raises(BadInputError, match="cannot be written: No such file"):
        course("progress", "--picture", str(tmp_path / "nowhere" / "plot.png"))
    monkeypatch.setattr("grader.domain.packages.missing", lambda *names: list(names))
    with pytest.raises(BadInputError, match="needs matplotlib, which is not installed"):
        course("progress", "--picture", str(tmp_path / "plot.png"))


def test_stages_that_are_done_are_shown(work_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = (Stage("Numbers", 15, ("scale", "blocks_for")), Stage("The grid", 10, ("ragged",)))
    lesson = lessons.find("02")
    lesson = replace(lesson, task=replace(lesson.task, stages=stages))
    monkeypatch.setattr(lessons, "every", lambda: [lesson])
    assert "Stage 1 of 2: Numbers, about 15 minutes." in course()
    assert "stages" not in course("list")
    kept = progress.read()
    kept.lines[lesson.name] = LessonProgress(lesson.name, "failed", 4, 20, 1)
    kept.open_checks[lesson.name] = ("ragged",)
    kept.save()
    assert "Stage 2 of 2: The grid, about 10 minutes." in course()
    assert "4/20, 1/2 stages" in course("list")
    passed(lesson.name)
    assert "stages" not in course("list")
