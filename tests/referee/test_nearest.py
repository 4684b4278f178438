"""The one change that makes a failed check pass."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.backends import detect
from grader.domain import lessons
from grader.domain.submission import read
from grader.feedback.explain.changes import Change, together
from grader.referee import nearest
from grader.referee.job import Job
from grader.referee.pipeline import check, warm


def told(number: str, tmp_path: Path, find: str, new: str) -> dict[str, object]:
    """The explanation of the first failed check of a solution with one change."""
    lesson = lessons.find(number)
    source = lesson.solution.read_text("utf-8")
    assert source.count(find) == 1
    file = tmp_path / "exercise.py"
    file.write_text(source.replace(find, new), "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    rights = nearest.solutions(lesson.solution.parent)
    failed = check(warm(replace(job, rights=rights))).verdict.failed
    assert failed
    explanation: dict[str, object] = failed[0].evidence["explanation"]
    return explanation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "find", "new", "cause"),
    [
        # a wrong sign in a formula, of which the text alone tells nothing
        ("07", "sum = value + bias", "sum = value - bias", "is the mistake"),
        # a line of Python, in a lesson without kernels: found by what the solution does otherwise
        ("04", "inputs = itertools.cycle(", "inputs = iter(", "`itertools.cycle`"),
        ("02", "left + x[i] + right", "left + right", "is missing in this line"),
    ],
)
def test_a_change_that_was_tried_is_named_with_its_line(
    tmp_path: Path, number: str, find: str, new: str, cause: str
) -> None:
    found = told(number, tmp_path, find, new)
    source = (tmp_path / "exercise.py").read_text("utf-8")
    assert found["rule"] == "one-change" and cause in str(found["cause"])
    assert found["line"] == source.count("\n", 0, source.index(new)) + 1


def test_lines_are_blamed_only_where_all_of_a_change_is_in_them() -> None:
    taken = Change(((0, 4, "other"),), 1, "replace", "mine", "other", 1)
    added = Change(((90, 90, "\nmore"),), 9, "add line", "", "more", 1)
    both = together([taken, replace(taken, edits=((50, 54, "third"),), line=5)])
    assert nearest.Nearest(taken, "mine", "other", all=True).located
    assert nearest.Nearest(both, "mine", "other", all=True).located
    assert not nearest.Nearest(together([taken, added]), "mine", "other", all=True).located


def test_a_bracket_that_is_never_closed_is_found(tmp_path: Path) -> None:
    found = told("04", tmp_path, "statistics.median(seconds),", "statistics.median(seconds,")
    assert found["rule"] == "one-change" and "`)` is missing" in str(found["cause"])


@pytest.mark.slow
def test_answers_of_the_exercise_are_not_given_away(tmp_path: Path) -> None:
    lesson = lessons.find("05")
    source = lesson.solution.read_text("utf-8")
    wrong = source.replace('"kernels": 24', '"kernels": 44')
    assert wrong != source
    file = tmp_path / "exercise.py"
    file.write_text(wrong, "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    verdict = check(warm(replace(job, rights=nearest.solutions(lesson.solution.parent)))).verdict
    assert verdict.failed and "24" not in str(verdict.failed[0].evidence.get("explanation"))


@pytest.mark.slow
def test_a_slip_of_the_files_own_is_said_before_the_right_files_statement(tmp_path: Path) -> None:
    right = "return (n + size - 1) // size"
    found = told("02", tmp_path, right, "return sum(1 for i in range(n) if i % size == 1)")
    assert found["rule"] == "one-change" and " is the mistake in this line: with `" in str(found["cause"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("find", "new"),
    [("return (n + size - 1) // size", "return sum(1 for i in range(n) if i % size == size * 2)")],
)
def test_what_would_solve_the_exercise_is_not_said(tmp_path: Path, find: str, new: str) -> None:
    found = told("02", tmp_path, find, new)
    assert found["rule"] == "one-change" and str(found["cause"]).startswith("The mistake is in th")
    assert "//" not in f"{found['cause']}{found['fix']}"
