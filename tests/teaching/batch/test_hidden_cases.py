"""A teacher's mistake costs no student a point: it is told before anybody is graded."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.backends.detect import Choice
from grader.domain import submission
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, find
from grader.domain.options import GradingOptions
from grader.domain.verdict import Status
from grader.referee.job import lesson_job
from grader.referee.pipeline import check
from grader.teaching.batch import batch_work, hidden_cases, machines
from grader.teaching.batch.batch_plan import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIMT = GradingOptions(backend="simt")
SEVEN = find("07")
GUIDE = (course_root() / "docs" / "guide" / "teacher.md").read_text("utf-8")
(EXAMPLE,) = (t for t in re.findall(r"```python\n(.*?)```", GUIDE, re.S) if "HIDDEN" in t)


def test_a_case_without_what_the_model_is_made_with_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "07.py"
    path.write_text(EXAMPLE)
    assert hidden_cases.texts(tmp_path, [SEVEN]) == {SEVEN.name: EXAMPLE} == hidden_cases.texts(path, [SEVEN])
    assert "init=" in EXAMPLE
    path.write_text(re.sub(r",\s*init=\(.*?\)\)", "", EXAMPLE))
    with pytest.raises(BadInputError, match=r"has no init.*init=\(64, 128, \(128,\)\)"):
        hidden_cases.texts(tmp_path, [SEVEN])


@pytest.mark.slow
def test_the_example_of_the_guide_works_as_printed(tmp_path: Path) -> None:
    (tmp_path / "07.py").write_text(EXAMPLE)
    options = replace(SIMT, hidden=tmp_path / "07.py")
    job = lesson_job(SEVEN, submission.read(SEVEN.solution), Choice("simt", "test"), options)
    verdict = check(job).verdict
    assert verdict.ok and [f.status for f in verdict.findings if "unusual shapes" in f.id] == [Status.PASSED]
    assert verdict.max_points == SEVEN.task.max_points + 2


class Fake:
    """Workers whose answers are written down: the engine's place, without processes."""

    def __init__(self, answers: dict[str, object]) -> None:
        self.answers, self.asked = answers, list[str]()

    @contextmanager
    def patched(self, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[None]:
        from grader.teaching.batch import scheduler

        fake = self

        class Engine:
            def __init__(self, _: object) -> None: ...

            def run(self, orders: Iterator[batch_work.Order], done: object) -> None:
                for order in orders:
                    what = "solution" if order.source == find("02").solution.read_text() else "starter"
                    fake.asked.append(what)
                    done(scheduler.Answer(order, fake.answers[what], "", 1))  # type: ignore[operator]

        monkeypatch.setenv("COURSE_CACHE", str(cache))
        monkeypatch.setattr(scheduler, "Engine", Engine)
        yield


def answer(status: Status, message: str = "Two of them.") -> str:
    import json

    verdict = batch_work.unreadable(find("02"), "x.py", "simt", message)
    first, *rest = verdict.findings
    rest = [replace(f, status=Status.PASSED, points=f.max_points) for f in rest]
    verdict = replace(verdict, findings=(replace(first, status=status), *rest))
    return json.dumps({"verdict": verdict.as_json(), "error": "", "worker": "w"})


@pytest.mark.parametrize(
    "solution, starter, said",
    [
        (Status.PASSED, Status.RAISED, ""),
        (Status.NOT_GRADABLE, Status.RAISED, "solution gets not_gradable at the check 'load'. Two of them."),
        (Status.WRONG_OUTPUT, Status.RAISED, "solution gets wrong_output"),
        (Status.PASSED, Status.PASSED, "the starter passes"),
    ],
)
def test_the_solution_must_pass_and_the_starter_must_fail(
    solution: Status, starter: Status, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = Fake({"solution": answer(solution), "starter": answer(starter)})
    settings, places = Settings(SIMT, "cpu"), machines.Machines.__new__(machines.Machines)
    with fake.patched(monkeypatch, tmp_path):
        for _ in range(2):
            if said:
                with pytest.raises(BadInputError, match=f"Lesson 02: .*{said}.*Nobody was graded"):
                    hidden_cases.require_tried([find("02")], settings, places, lambda _: None)
            else:
                hidden_cases.require_tried([find("02")], settings, places, lambda _: None)
    if not said:
        assert sorted(fake.asked) == ["solution", "starter"]  # the second time it is known


def test_a_fault_without_a_reason_says_that_there_is_none() -> None:
    verdict = batch_work.ungraded(find("02"), "simt", "")
    assert verdict.status is Status.NOT_GRADABLE and verdict.findings[0].message
