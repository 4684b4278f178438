"""Where the course and a student's files lie, as the environment says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain import workspace
from grader.domain.lessons import course_root

if TYPE_CHECKING:
    import pytest


def test_a_root_that_is_said_by_a_relative_path_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A player that runs in a folder of its own is given paths below it."""
    monkeypatch.chdir(course_root())
    monkeypatch.setenv("COURSE_ROOT", ".")
    monkeypatch.setenv("COURSE_WORK", "work")
    assert course_root().is_absolute() and workspace.folder() == course_root() / "work"
