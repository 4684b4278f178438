"""Each student's variant is their own: its key passes, its starter fails, and so does another's key."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.backends.detect import Choice
from grader.cli.app import app
from grader.domain import workspace
from grader.domain.errors import BadInputError
from grader.domain.lessons import find
from grader.domain.verdict import Status
from grader.teaching.exam import exam_verb, sheet
from grader.teaching.exam.draws import Draws
from grader.teaching.exam.exam_papers import PAPERS
from tools import mutants
from tools.variant_check import FEWEST, problems

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [f"student {k}" for k in range(40)]
CPU = Choice("simt", "a test")


def test_a_name_always_gets_the_same_and_another_name_or_secret_does_not() -> None:
    for number, paper in PAPERS.items():
        drawn = [paper(Draws(name)) for name in NAMES]
        assert len({str(words) for words in drawn}) == len(NAMES), number
        assert paper(Draws("  Student   7 ")) == drawn[7]
        assert paper(Draws("student 7", "a secret")) != drawn[7]


@pytest.mark.parametrize("number", PAPERS)
def test_every_variant_is_whole_and_its_starter_shows_nothing_of_the_key(number: str, tmp_path: Path) -> None:
    for name in NAMES[:8]:
        one = sheet.write(number, Draws(name), tmp_path)
        given, key = one.starter.read_text("utf-8"), one.key.read_text("utf-8")
        assert "TODO 1" in given and "solution:" not in given + key and "starter:" not in given + key
        for path in one.root.rglob("*.py"):
            text = path.read_text("utf-8")
            assert "@" not in text.replace("x @ y", ""), path
            ast.parse(text)
        assert not list(mutants.problems(one.lesson, FEWEST))  # each fits this key, and no two are the same
        assert set(key.splitlines()) - set(given.splitlines())
        assert one.lesson.task.max_points >= 10
        assert one.lesson.task.starter_fails in one.lesson.task.check_names
    students = {p.relative_to(tmp_path).parts[0] for p in tmp_path.rglob("*.py")}
    assert students == {"students", "keys"}
    assert not [p for p in (tmp_path / "students").rglob("*") if "solution" in p.name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[] if n == "02" else pytest.mark.thorough) for n in PAPERS]
)
def test_the_key_passes_and_starter_and_another_key_fail(number: str, tmp_path: Path) -> None:
    mine, other = (sheet.write(number, Draws(name, "s"), tmp_path) for name in ("Ada", "Bob"))
    right = exam_verb.graded(mine, mine.key, CPU).verdict
    assert right.ok and right.points == right.max_points, right.failed
    begun = exam_verb.graded(mine, mine.starter, CPU).verdict
    failed = [f.id for f in begun.findings if not f.ok and f.status is not Status.NOT_RUN]
    assert failed[0] == mine.lesson.task.starter_fails
    assert 2 * begun.points <= begun.max_points
    copied = exam_verb.graded(mine, other.key, CPU).verdict
    assert not copied.ok and 2 * copied.points <= copied.max_points


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[] if n == "02" else pytest.mark.thorough) for n in PAPERS]
)
def test_every_wrong_version_of_a_terms_variant_loses_points(number: str, tmp_path: Path) -> None:
    said: list[str] = []
    assert problems(number, Draws.of_term("2027w", "s"), tmp_path, said.append) == []
    assert len(said) >= 2 + FEWEST and all(line.endswith(": as it should be") for line in said)


@pytest.mark.thorough
def test_a_term_is_no_student_and_a_variant_that_lets_a_mutant_pass_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_term = sheet.write("02", Draws.of_term("2027w"), tmp_path)
    assert of_term.key.read_text() != sheet.write("02", Draws("2027w"), tmp_path).key.read_text()
    templates = tmp_path / "papers"
    shutil.copytree(sheet.TEMPLATES / "02", templates / "02")
    with (templates / "02" / "mutants.toml.txt").open("a") as file:
        file.write('[[mutant]]\nname = "no mistake"\nfind = "if i < n:"\nreplace = "if n > i:"\n')
    monkeypatch.setattr(sheet, "TEMPLATES", templates)
    assert problems("02", Draws.of_term("2027w"), tmp_path / "out", lambda _: None) == [
        "mutant 'no mistake' passes."
    ]


@pytest.mark.thorough
@pytest.mark.slow
def test_a_class_is_graded_with_a_terms_variant_in_place_of_the_lesson(tmp_path: Path) -> None:
    out, handed_in = tmp_path / "exam", tmp_path / "class"
    done = CliRunner().invoke(app, ["exam", "02", "--term", "2027w", "--secret", "s", "--out", str(out)])
    root = out / "keys" / "term-2027w"  # as the guide has it
    assert f"COURSE_ROOT={workspace.shown(root)} " in done.output and "Drawn without" not in done.output
    one = sheet.write("02", Draws.of_term("2027w", "s"), out)
    assert done.exit_code == 0 and one.root == root
    handed_in.mkdir()
    for who, text in (
        ("ann", one.key.read_text()), ("ben", one.starter.read_text()),
        ("cleo", find("02").solution.read_text()),  # the published solution of the lesson
    ):  # fmt: skip
        (handed_in / f"{who}.py").write_text(f"{text}\n# {who}\n")
    words = ["batch", str(handed_in), "--lesson", "02", "--out", str(tmp_path / "results"), "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "grader", *words, "--backend", "simt"], check=True, capture_output=True,
        env=os.environ | {"COURSE_ROOT": str(one.root)}, timeout=300,
    )  # fmt: skip
    rows = json.loads((tmp_path / "results" / "reports" / "class.json").read_text())["rows"]
    points = {row["student"]: row["points"] for row in rows}
    assert points["ann"] == one.lesson.task.max_points > 2 * max(points["ben"], points["cleo"])


def test_the_command_writes_and_says_what_it_needs(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["exam", "04", "--name", "Ada", "--name", "Bob", "--out", str(tmp_path)])
    assert done.exit_code == 0 and done.output.count("key: ") == 2
    assert "Drawn without --secret" in done.output
    with pytest.raises(BadInputError, match="There are exams for lessons 02, 03, 04, 07, 09, not for 05"):
        sheet.write("05", Draws("Ada"), tmp_path)
    with pytest.raises(BadInputError, match="Whose exam is it"):
        sheet.write("04", Draws("  "), tmp_path)
    wanted = exam_verb.Wanted(("Ada", "Bob"), "", tmp_path)
    with pytest.raises(BadInputError, match="--name ada for a student's, or --term 2027w"):
        exam_verb.run("04", exam_verb.Wanted((), "", tmp_path), None, "simt")
    with pytest.raises(BadInputError, match="one student"):
        exam_verb.run("04", wanted, tmp_path / "answer.py", "simt")
