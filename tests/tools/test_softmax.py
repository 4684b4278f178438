"""docs/contributing/softmax.md, done to the letter: its files written, its commands run, in a copy."""

import re
import shutil
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.cli import app
from grader.domain.errors import BadInputError
from grader.domain.lessons import every, find
from tools import blanks, lesson_check
from tools.new import new

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/contributing/softmax.md"
FENCE = re.compile(r'^( *)(`{3,})(\w+)(?: title="([^"]+)")?\n(.*?)^\1\2$', re.M | re.S)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lessons of this course, in another place, where number 17 is free."""
    for top in (
        "lessons",
        "solutions",
        "docs",
        "benchmarks/results",
        "benchmarks/dialect_kernels",
        "grader/domain/cards",
    ):
        skip = shutil.ignore_patterns("__pycache__", "17_*")
        shutil.copytree(ROOT / top, tmp_path / top, ignore=skip)
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(course: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in sorted(course.rglob("*")) if p.is_file() and p.suffix != ".pyc"}


def run(command: str) -> str:
    done = CliRunner().invoke(app.app, command.removeprefix("./course ").split())
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.thorough
@pytest.mark.slow
def test_the_page_from_nothing_to_a_whole_lesson(
    course: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    before = files(course)
    printed = ""
    for _, _, language, title, body in FENCE.findall(PAGE.read_text("utf-8")):
        text = textwrap.dedent(body)
        if title:
            (course / title).parent.mkdir(exist_ok=True)
            (course / title).write_text(text, "utf-8")
        elif language == "text":
            assert printed.startswith(text)
        for command in text.splitlines() if language == "sh" else []:
            if command == "./course dev check 17":  # its mutants: test_every_mutant_of_the_page_fails
                command += " --no-mutants"
            printed = run(command)
            if "check 17 solutions" in command:
                assert "passed  20/20 points" in printed
    assert printed.endswith("Every lesson is whole.\n")
    lesson = find("17")
    assert blanks.left(lesson) == []
    assert not [p for p in lesson_check.concepts(every()) if "17" in p]
    after = files(course)
    assert {p: after.get(p) for p in before} == before
    folders = {p.relative_to(course).parts[:2] for p in after.keys() - before.keys()}
    assert folders - {("work",)} == {("lessons", "17_log_softmax"), ("solutions", "17_log_softmax")}


@pytest.mark.thorough
def test_every_mutant_of_the_page_fails(course: Path) -> None:
    new(course, "17_log_softmax")
    assert run("./course dev check 17").endswith("waits for its blanks.\n")
    for _, _, _, title, body in FENCE.findall(PAGE.read_text("utf-8")):
        if title:
            (course / title).parent.mkdir(exist_ok=True)
            (course / title).write_text(textwrap.dedent(body), "utf-8")
    run("./course dev generate")
    assert run("./course dev check 17").endswith("Every lesson is whole.\n")


@pytest.mark.thorough
@pytest.mark.slow
def test_a_lesson_that_was_begun_passes_and_its_blanks_are_named(course: Path) -> None:
    new(course, "17_row_sums", "The sums of rows")
    said = run("./course dev check 17 --no-mutants")
    left = blanks.left(find("17"))
    assert f"17_row_sums: {len(left)} blanks to fill in:" in said and len(left) <= 20
    for blank in left:
        line = (course / str(blank).split(":")[0]).read_text("utf-8").splitlines()[blank.line - 1]
        assert f"BLANK: {blank.what}" in line and f"  {blank}\n" in said
    # What a blank asks for may be missing; without the blank it may not.
    page = find("17").folder / "mutants.toml"
    page.write_text(page.read_text("utf-8").replace("BLANK: twelve mutants", "Twelve mutants"), "utf-8")
    assert "there are 4 mutants, not 12." in list(lesson_check.form(find("17")))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("softmax", "two digits, then words"),
        ("17_Softmax", "two digits, then words"),
        ("17_class", "two digits, then words"),
        ("../14_x", "two digits, then words"),
        ("03_softmax", "lesson 03 already, 03_square_kernel; the next free number is "),
    ],
)
def test_a_name_that_is_none_is_refused(name: str, says: str) -> None:
    before = sorted(ROOT.glob("*/*"))
    with pytest.raises(BadInputError, match=re.escape(says)):
        new(ROOT, name)
    assert sorted(ROOT.glob("*/*")) == before
