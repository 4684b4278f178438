"""Statistics name their denominators, and count nobody who never came to a check."""

from __future__ import annotations

import pytest

from grader.domain.verdict import Status
from grader.reports import class_statistics, formats
from grader.reports.row import Check, Class, LessonFacts, Row

LESSONS = (LessonFacts("03_square_kernel", "Square", 10), LessonFacts("07_fused_bias_relu", "Fused", 10))


def row(k: int, *statuses: Status, lesson: str = LESSONS[0].name, **more: object) -> Row:
    checks = tuple(Check(f"c{n}", s, 2 * (s is Status.PASSED), 2) for n, s in enumerate(statuses))
    points = sum(c.points for c in checks)
    status = Status.PASSED if set(statuses) == {Status.PASSED} else Status.FAILED
    return Row(f"s{k}", lesson, "graded", status, points, points, 10, checks=checks, **more)  # type: ignore[arg-type]


GOOD, BAD, NEVER = Status.PASSED, Status.WRONG_OUTPUT, Status.NOT_RUN
ROWS = (
    *(row(k, GOOD, GOOD, GOOD, section="A") for k in range(6)),
    *(
        row(k, GOOD, BAD, BAD, section="B", mistake="guard", taught="03", first="no <guard>")
        for k in range(6, 12)
    ),
    *(row(k, BAD, NEVER, NEVER, section="B") for k in range(12, 14)),
    Row("gone", LESSONS[0].name, "missing", NEVER, 0, 0, 10, section="A", final=False),
    row(0, GOOD, Status.PENDING_GPU, lesson=LESSONS[1].name),
)  # fmt: skip
RESULT = Class("x", "2026-11-21T00:00:00Z", LESSONS, ROWS)


def test_checks_count_those_who_reached_them() -> None:
    first, second = class_statistics.of_class(RESULT)
    facts = {c.name: (c.failed, c.reached) for c in first.checks}
    assert facts == {"c0": (2, 14), "c1": (6, 12), "c2": (6, 12)}
    assert [c.name for c in first.checks] == ["c1", "c2", "c0"] and first.checks[0].usual is BAD
    assert first.checks[0].discrimination == pytest.approx(1.0)
    assert [(c.name, c.reached) for c in second.checks] == [("c0", 1)]  # what waits for a GPU was not reached
    assert second.checks[0].discrimination is None
    (mistake,) = first.mistakes
    assert (mistake.rule, mistake.taught, len(mistake.students)) == ("guard", "03", 6)


def test_sections_and_the_whole_say_of_how_many() -> None:
    first, second = class_statistics.of_class(RESULT)
    assert (first.whole.students, first.whole.graded, first.whole.passed) == (15, 14, 6)
    assert [(s.name, s.students, s.graded, s.passed) for s in first.sections] == [
        ("A", 7, 6, 6),
        ("B", 8, 8, 0),
    ]
    assert first.sections[0].share == pytest.approx(0.6) and second.sections == ()


def test_the_page_links_to_students_and_escapes() -> None:
    page = formats.of_class()["statistics"].write(RESULT)
    assert "14 of 15 students were graded, 6 of these passed" in page
    assert "6 of 14: guard, explained in lesson 03" in page and "no &lt;guard&gt;" in page
    assert page.count("<svg") == 2 and "../students/s6/03_square_kernel/report.html" in page
