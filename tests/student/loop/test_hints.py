"""Hints are opened one level at a time, first those on the TODO that the last grading needs."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from grader.domain import disk, lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.verdict import Finding, Status, Verdict
from grader.feedback.look.advice import Advice
from grader.student import progress
from grader.student.loop import hints, learn_verbs, watch_view
from grader.teaching.batch import batch_work

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """# Hints for lesson 03

## TODO 1: the index

<!-- checks: whole blocks, ragged edges -->

### Idea

A thread asks where it is.

### Place

Above the `return`.

### Shape

```text
row = ...
```

## TODO 2: views
<!-- checks: transposed;
     every other; square, odd -->

### Idea

Not every tensor is contiguous.

### Place

Before `out`.

### Shape

    x = ...
"""


@pytest.fixture
def lesson(work_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lessons.Lesson:
    (tmp_path / "hints.md").write_text(PAGE)
    lesson = replace(lessons.find("03"), folder=tmp_path)
    monkeypatch.setattr(learn_verbs, "wanted", lambda word: lesson)
    return lesson


def graded(**statuses: Status) -> None:
    findings = (Finding(name.replace("_", " "), status, "", 0, 1) for name, status in statuses.items())
    progress.record(Verdict("03_square_kernel", "mine.py", "simt", "a CPU", tuple(findings), 1.0))


def test_a_page_is_read_by_its_todos() -> None:
    first, second = hints.parse(PAGE)
    assert (first.todo, first.title, first.checks) == (1, "the index", ("whole blocks", "ragged edges"))
    assert first.levels[2] == ("Shape", "```text\nrow = ...\n```")
    assert second.checks == ("transposed", "every other", "square, odd")
    assert [heading for heading, _ in second.levels] == ["Idea", "Place", "Shape"]


def test_the_first_failing_check_says_which_todo(lesson: lessons.Lesson) -> None:
    graded(whole_blocks=Status.PASSED, every_other=Status.WRONG_OUTPUT, ragged_edges=Status.NOT_RUN)
    levels = [hints.take(lesson) for _ in range(4)]
    assert [one.about for one in levels] == ["TODO 2: views"] * 4
    assert [(one.level, one.heading, one.last) for one in levels] == [
        (1, "Idea", False), (2, "Place", False), (3, "Shape", True), (3, "Shape", True)
    ]  # fmt: skip
    graded(whole_blocks=Status.WRONG_OUTPUT, every_other=Status.WRONG_OUTPUT)
    assert hints.take(lesson).about == "TODO 1: the index"
    assert progress.read().line(lesson.name).hints == 4
    assert progress.read().opened == {(lesson.name, 1): 1, (lesson.name, 2): 3}


def test_without_a_grading_the_first_todo_that_is_left_is_due(lesson: lessons.Lesson) -> None:
    assert hints.take(lesson).about == "TODO 1: the index"
    disk.write(workspace.place(lesson), "# TODO 2: views")
    assert hints.take(lesson).about == "TODO 2: views"
    graded(load=Status.COMPILE_ERROR, every_other=Status.NOT_RUN)
    assert hints.take(lesson).about == "TODO 2: views"
    disk.write(workspace.place(lesson), "all done")
    graded(load=Status.COMPILE_ERROR)
    assert hints.take(lesson).about == "TODO 1: the index"


def test_one_may_ask_for_another(lesson: lessons.Lesson, capsys: pytest.CaptureFixture[str]) -> None:
    learn_verbs.hint("03", 2, 3)
    said = capsys.readouterr().out
    assert "Lesson 03, TODO 2: views. Hint 3: Shape" in said and "x = ..." in said
    assert "./course hint 03 TODO opens those on another" in said
    with pytest.raises(BadInputError, match="has hints on TODO 1, 2, not on 7"):
        hints.take(lesson, 7)
    with pytest.raises(BadInputError, match="TODO 1 of lesson 03 has hints 1 to 3, not 9"):
        hints.take(lesson, 1, 9)


def test_the_watch_shows_them_in_a_box(lesson: lessons.Lesson) -> None:
    console = Console(width=60, file=StringIO(), record=True)
    console.print(watch_view.hint(hints.take(lesson, 2)))
    shown = console.export_text()
    assert "hint 1: Idea" in shown and "TODO 2: views" in shown


def test_what_was_opened_and_what_is_open_outlive_a_merge() -> None:
    text = (
        "opened 03_square_kernel TODO 2 level 3\nopened 03_square_kernel TODO 2 level 1\n"
        "open 03_square_kernel square, odd;every other\n"
    )
    kept = progress.parse(text)
    assert kept.opened == {("03_square_kernel", 2): 3}
    assert kept.open_checks == {"03_square_kernel": ("square, odd", "every other")}
    assert progress.parse(kept.text()) == kept


def test_advice_names_no_todo_of_a_later_step_than_the_check_that_failed() -> None:
    """A learner in stage 2 is not sent to stage 3 because its TODO still stands there."""
    lesson = lessons.find("14")
    verdict = batch_work.ungraded(lesson, "simt", "x")
    (first, *rest) = verdict.findings

    def shown(check: str, todo: int) -> bool:
        failed = replace(first, id=check, status=Status.WRONG_OUTPUT)
        ok = [replace(one, status=Status.PASSED) for one in rest]
        mark = Advice(3, f"A TODO is still here. Do this first: TODO {todo}: a thing (2 more below.)")
        given = [mark, Advice(5, "Something else.")]
        kept = hints.fitting(lesson, replace(verdict, findings=(failed, *ok)), given)
        assert kept[-1] == given[-1]
        return mark in kept

    assert shown("whole rows", 2) and shown("whole rows", 1)
    assert not shown("whole rows", 3)
    assert shown("load", 3), "no hint is about that check"
