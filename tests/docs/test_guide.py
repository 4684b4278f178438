"""What the guide says and shows: its programs run, its numbers have a source, its pages are short enough to read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docs.conftest import ROOT
from tools import blocks, numbers, quiz, sources

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "docs" / "guide"
LONGEST = {"timing.md": 900, "ladder.md": 1200, "machine.md": 900, "prediction.md": 350}  # words


def words(page: str) -> int:
    """Words of a page's text: no code, tables' rules, pictures or addresses."""
    page = re.sub(r"<!--.*?-->|^ *```.*?^ *```|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)", "", page, flags=re.M | re.S)
    return len(re.findall(r"\b[\w'.,-]+\b", page))


def test_pages_that_tell_in_short_are_short() -> None:
    short = {name: words((GUIDE / name).read_text("utf-8")) for name in LONGEST}
    assert not {name: count for name, count in short.items() if count > LONGEST[name]}


def test_numbers_are_measured_or_declared_and_programs_print_what_the_page_says() -> None:
    machine, ladder = ((GUIDE / name).read_text("utf-8") for name in ("machine.md", "ladder.md"))
    assert not list(numbers.problems(machine)) and not list(numbers.problems(ladder))
    assert not list(blocks.problems(machine, ROOT))


def test_a_page_outside_the_lessons_may_have_a_quiz() -> None:
    questions = quiz.read(GUIDE / "from_string_to_gpu.toml")
    assert not list(quiz.problems(questions))
    page = sources.mended("Text.\n\n<!-- quiz: guide/from_string_to_gpu.toml -->\n", ROOT)
    assert page.count('<fieldset class="quiz">') == len(questions)


def run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """``course run`` of a program that a page shows."""
    (folder / "first.py").write_text(program, "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "grader", "run", "--backend", "simt", "first.py"],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT), "COURSE_ROOT": str(ROOT), "COURSE_WORK": str(folder)},
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_first_kernel_of_the_home_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "index.md").read_text("utf-8")
    program = re.findall(r"^```python[^\n]*\n(.*?)^```", page, re.M | re.S)[0]
    printed = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)[0]
    done = run(tmp_path, program)
    assert done.returncode == 0 and done.stdout == printed, done.stderr
    broken = run(tmp_path, program.replace("i < n", "i <= n"))
    assert broken.returncode == 1
    assert "first.py, line 7" in broken.stderr and "thread (5, 0, 0)" in broken.stderr, broken.stderr


@pytest.mark.thorough
@pytest.mark.slow
def test_the_kernel_that_is_followed_to_the_gpu(tmp_path: Path) -> None:
    page = (GUIDE / "from_string_to_gpu.md").read_text("utf-8")
    done = run(tmp_path, re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)[0])
    assert done.returncode == 0 and "tensor([2., 2., 2.]" in done.stdout, done.stderr
