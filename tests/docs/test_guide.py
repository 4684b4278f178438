"""What the guide says and shows: its programs run, its numbers have a source, its pages are short enough to read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.docs.conftest import ROOT
from tools import blocks, numbers, quiz, sources, wording

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "docs" / "guide"
LONGEST = {"timing.md": 900, "ladder.md": 1200, "machine.md": 900, "prediction.md": 350}  # words
FOR_STUDENTS = 1500


def words(page: str) -> int:
    """Words of a page's text: no code, tables' rules, pictures or addresses."""
    page = re.sub(r"<!--.*?-->|^ *```.*?^ *```|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)", "", page, flags=re.M | re.S)
    return len(re.findall(r"\b[\w'.,-]+\b", page))


def for_students() -> list[str]:
    """The pages that the navigation lists for students."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("", lambda *_: None)  # what MkDocs alone understands
    nav = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader)["nav"]
    guide = next(entry["Guide"] for entry in nav if "Guide" in entry)
    pages: list[str] = next(part["For students"] for part in guide if "For students" in part)
    return [*pages, "start.md"]


def test_no_page_is_too_long_for_its_readers() -> None:
    pages = for_students()
    assert len(pages) >= 10
    found = {page: words((ROOT / "docs" / page).read_text("utf-8")) for page in pages}
    assert not {page: count for page, count in found.items() if count > FOR_STUDENTS}
    short = {name: words((GUIDE / name).read_text("utf-8")) for name in LONGEST}
    assert not {name: count for name, count in short.items() if count > LONGEST[name]}


def test_pages_for_readers_have_no_turn_that_they_stumble_over() -> None:
    assert list(wording.problems("Here is more, for who wants it.\n")) == [
        "about line 1: 'for who wants'; better: if you want to."
    ]
    assert not list(wording.problems("```text\nnobody\n```\n\nIn code `nobody` may stand.\n"))
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *GUIDE.glob("*.md")]
    pages.remove(GUIDE / "teacher.md")  # it is being rewritten
    found = {page.name: list(wording.problems(page.read_text("utf-8"))) for page in pages}
    assert not {name: told for name, told in found.items() if told}


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


@pytest.mark.slow
def test_the_kernel_that_is_followed_to_the_gpu(tmp_path: Path) -> None:
    page = (GUIDE / "from_string_to_gpu.md").read_text("utf-8")
    done = run(tmp_path, re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)[0])
    assert done.returncode == 0 and "tensor([2., 2., 2.]" in done.stdout, done.stderr
