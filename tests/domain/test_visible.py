"""Characters that turn a text around are shown as what they are, wherever a submission's text goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.backends.detect import Choice
from grader.domain import disk
from grader.domain.lessons import load_task
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.visible import all_visible, visible
from grader.referee.job import Job
from grader.referee.pipeline import check
from grader.referee.process.player_process import Limits
from tests.corpus.entries import HERE

if TYPE_CHECKING:
    from pathlib import Path

OVERRIDE = "\u202e"


@pytest.mark.parametrize("code", [0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)])
def test_each_is_named(code: int) -> None:
    assert visible(f"a{chr(code)}b") == f"a<U+{code:04X}>b"


def test_other_text_stays() -> None:
    text = "ağ \u4e2d \u0627\u0644 \U0001f44d\u200d\n\t"
    assert visible(text) == text


def test_all_of_plain_data() -> None:
    given = {f"a{OVERRIDE}": [1, (f"{OVERRIDE}b", None)], "c": {"d": OVERRIDE}}
    assert all_visible(given) == {"a<U+202E>": [1, ("<U+202E>b", None)], "c": {"d": "<U+202E>"}}


def test_a_files_name() -> None:
    assert disk.legible(f"yp{OVERRIDE}.py") == "yp<U+202E>.py"


def test_a_verdict_has_none_of_them(tmp_path: Path) -> None:
    """By a line that Python refuses, which the verdict quotes."""
    file = tmp_path / "submission.py"
    file.write_text(f"x = = '{OVERRIDE}passed 20/20'\n", "utf-8")
    folder = HERE / "tasks" / "double"
    task, choice = load_task(folder / "task.py"), Choice("simt", "hostile")
    job = Job("corpus/double", task, folder / "reference.py", read(file), choice, Limits(), GradingOptions())
    said = json.dumps(check(job).verdict.as_json(), ensure_ascii=False)
    assert "<U+202E>passed" in said
    assert OVERRIDE not in said
