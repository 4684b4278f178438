"""The whole way, on the back end that this machine has: starters fail for their reason, solutions pass."""

import json
from pathlib import Path

import jsonschema
import pytest

from grader.backends import detect
from grader.domain.lessons import Lesson, course_root, every, find
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.verdict import PENDING, Status, Verdict
from grader.referee.job import lesson_job
from grader.referee.pipeline import check, warm
from grader.reports import formats

SCHEMA = json.loads((course_root() / "grader/domain/schema" / "verdict.v1.json").read_text())
BACKENDS = ["simt", pytest.param("cuda", marks=pytest.mark.gpu)]


def grade(lesson: Lesson, path: Path, name: str) -> Verdict:
    choice = detect.Choice(name, "test")
    job = lesson_job(lesson, read(path), choice, GradingOptions(with_speed=True))
    return check(warm(job)).verdict


# The step `lessons` of `course test` grades every solution and starter; the rest is looked at on a few.
FEW = ("03", "07", "11")
SOLUTIONS = [x if x.name[:2] in FEW else pytest.param(x, marks=pytest.mark.thorough) for x in every()]


@pytest.mark.slow(cases=2)
@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("lesson", SOLUTIONS, ids=lambda x: x.name)
def test_the_solution_gets_full_marks(lesson: Lesson, name: str, tmp_path: Path) -> None:
    verdict = grade(lesson, lesson.solution, name)
    assert verdict.ok, verdict.failed
    open_points = sum(f.max_points for f in verdict.findings if f.status in PENDING)
    assert verdict.points + open_points == verdict.max_points == 20
    assert lesson.task.speed is None or verdict.speed is not None
    formats.put(formats.single(verdict, "json"), str(tmp_path / "out.json"))
    jsonschema.validate(json.loads((tmp_path / "out.json").read_text()), SCHEMA)


@pytest.mark.parametrize(("number", "case"), [("03", "tall and wide"), ("14", "many variances")])
def test_a_launch_that_is_allowed_is_worth_nothing_where_nothing_is_computed(number: str, case: str) -> None:
    """In 14 another function is right already."""
    verdict = grade(find(number), find(number).exercise, "simt")
    (found,) = (f for f in verdict.findings if f.id == case)
    assert found.points == 0 and "No points yet: no o" in found.message


@pytest.mark.parametrize("lesson", SOLUTIONS, ids=lambda x: x.name)
def test_the_starter_fails_for_its_reason(lesson: Lesson) -> None:
    verdict = grade(lesson, lesson.exercise, "simt")
    failed = [f for f in verdict.findings if not f.ok and f.status is not Status.NOT_RUN]
    assert failed[0].id == lesson.task.starter_fails and failed[0].message
    assert 2 * verdict.points <= verdict.max_points  # some starters are right, and only slow or narrow
    jsonschema.validate(verdict.as_json(), SCHEMA)


MISTAKES = {
    'name="lesson03_square"': ('name="my-square"', "'my-square' is not an identifier"),
    'functions=["square_matrix"]': ('functions=["square_matrix(x)"]', "write it without brackets"),
    "cuda_sources=cuda_source": (
        'cuda_sources=cuda_source, extra_cflags=["-O1"] * 300',
        "cflags must be a list",
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_load_inline_is_no_tampering(text: str, tmp_path: Path) -> None:
    lesson = every()[2]
    wrong, said = MISTAKES[text]
    solution = lesson.solution.read_text("utf-8")
    assert solution.count(text) == 1
    (tmp_path / "mine.py").write_text(solution.replace(text, wrong))
    verdict = grade(lesson, tmp_path / "mine.py", "simt")
    assert verdict.status is Status.IMPORT_ERROR
    line = solution[: solution.index("= load_inline(")].count("\n") + 1
    message = verdict.findings[0].message
    assert said in message and f"mine.py, line {line}" in message


@pytest.mark.thorough
def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    lesson = every()[2]
    path = tmp_path / 'Ann "A" Lee\\.py'
    path.write_text(lesson.solution.read_text("utf-8"))
    assert grade(lesson, path, "simt").points == 20
