"""Hints that are not whole are named: a page of lesson 02 in the new form, broken in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.domain.lessons import Lesson, find
from tools import hint_check

if TYPE_CHECKING:
    from pathlib import Path

REAL = find("02")
CHECKS = ["scale; blocks_for", "whole blocks; ragged; one element", "neighbours; neighbours, ragged"]


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    levels = "".join(f"\n### {level}\n\nText.\n" for level in hint_check.LEVELS)
    todos = (
        f"## TODO {k}: a part\n\n<!-- checks: {names} -->\n{levels}\n" for k, names in enumerate(CHECKS, 1)
    )
    (tmp_path / "hints.md").write_text("# Hints for lesson 02\n\n" + "".join(todos))
    (tmp_path / "exercise.py").write_text("".join(f"# TODO {k}: a part\n" for k in (1, 2, 3)))
    return replace(REAL, folder=tmp_path)


def test_the_page_is_whole(lesson: Lesson) -> None:
    assert list(hint_check.problems(lesson)) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## TODO 2", "## TODO 4", "for each of the TODOs [1, 2, 3], in their order; it has [1, 4, 3]"),
        ("### Place", "### Where", "TODO 1 must have three levels"),
        ("### Place\n\nText.", "### Place\n", "the level Place of TODO 1 is empty"),
        ("scale; ", "load; scales; ", "names the check 'scales'; the task has scale, blocks_for"),
        ("; ragged; one", "; scale; one", "names the check 'scale' 2 times"),
        ("; one element", "", "names no TODO for one element"),
    ],
)
def test_what_is_wrong_is_named(lesson: Lesson, old: str, new: str, says: str) -> None:
    page = lesson.folder / "hints.md"
    assert old in page.read_text()
    page.write_text(page.read_text().replace(old, new, 1))
    assert says in " ".join(hint_check.problems(lesson))
