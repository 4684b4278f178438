"""Where the course and a student's files lie, as the environment says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.domain import workspace
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, find

if TYPE_CHECKING:
    from pathlib import Path


def test_a_root_that_is_said_by_a_relative_path_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A player that runs in a folder of its own is given paths below it."""
    monkeypatch.chdir(course_root())
    monkeypatch.setenv("COURSE_ROOT", ".")
    monkeypatch.setenv("COURSE_WORK", "work")
    assert course_root().is_absolute() and workspace.folder() == course_root() / "work"


def test_a_package_without_a_folder_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workspace, "from_wheel", lambda: True)
    monkeypatch.delenv("COURSE_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    assert workspace.here() is None and workspace.for_results() == tmp_path
    with pytest.raises(BadInputError, match="start my-course") as said:
        workspace.folder()
    assert str(said.value).count("\n") == 0


def test_of_a_package_a_lesson_is_read_in_the_notebook_that_was_laid_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lesson = find("03")
    monkeypatch.setenv("COURSE_WORK", str(tmp_path))
    book = tmp_path / f"{lesson.name}.ipynb"
    book.touch()
    assert workspace.page(lesson) == lesson.folder / "README.md"
    monkeypatch.setattr(workspace, "from_wheel", lambda: True)
    assert workspace.page(lesson) == book
    book.unlink()
    assert workspace.page(lesson) == lesson.folder / "README.md"
