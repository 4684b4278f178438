from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from grader.domain import lessons, workspace
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_use_lays_the_starter_out_and_later_ones_leave_it(work_folder: Path) -> None:
    lesson = lessons.find("03")
    mine = workspace.file(lesson)
    assert mine == work_folder / "03_square_kernel.py"
    assert mine.read_text() == lesson.exercise.read_text()
    mine.write_text("mine")
    assert workspace.file(lesson).read_text() == "mine"


def test_reset_keeps_every_version(work_folder: Path) -> None:
    lesson = lessons.find("03")
    for text in ("one", "two", "three"):
        workspace.file(lesson).write_text(text)
        kept = workspace.reset(lesson)
        assert kept is not None
        assert kept.read_text() == text
    assert workspace.file(lesson).read_text() == lesson.exercise.read_text()
    assert {p.read_text() for p in (work_folder / "backup").iterdir()} == {"one", "two", "three"}


def test_git_ignores_the_workspace() -> None:
    done = subprocess.run(
        ["git", "check-ignore", "-q", "work/03_square_kernel.py"], cwd=course_root(), check=False
    )
    assert done.returncode == 0


def test_a_workspace_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").write_text("a file")
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "work"))
    with pytest.raises(BadInputError, match="cannot be written"):
        workspace.file(lessons.find("01"))
