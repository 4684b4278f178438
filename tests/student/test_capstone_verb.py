"""``course capstone``: the list, what is laid out, and that the commands that it names work as they stand."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.cli.app import app
from grader.domain import capstone, workspace
from grader.student import capstone_verb

if TYPE_CHECKING:
    from pathlib import Path


def course(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False, env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    return str(done.output)


def test_the_list_says_what_is_begun_and_what_is_passed(work_folder: Path) -> None:
    assert "Choose one: ./course capstone" in course("capstone")
    course("capstone", "swiglu")
    rows = {line.split()[0]: line for line in course("capstone").splitlines() if line}
    assert len(rows) == len(capstone.problems()) + 1
    assert "begun" in rows["swiglu"] and "begun" not in rows["rope"]
    verdict = {"status": "passed", "points": 12, "max_points": 12}
    (work_folder / "capstone" / "swiglu.json").write_text(json.dumps(verdict))
    assert "passed 12/12" in course("capstone")
    (work_folder / "capstone" / "swiglu.json").write_text("[1]")
    assert "begun" in course("capstone")


def test_what_is_laid_out_stays_when_it_is_asked_for_again(work_folder: Path) -> None:
    assert "is new" in course("capstone", "top_k")
    folder = work_folder / "capstone"
    ends = ("", "_compiled", "_reference")
    assert sorted(p.name for p in folder.iterdir()) == sorted([*(f"top_k{e}.py" for e in ends), "top_k.md"])
    (folder / "top_k.py").write_text("mine")
    (folder / "top_k_reference.py").unlink()
    assert "stays as it is" in course("capstone", "top_k")
    assert (folder / "top_k.py").read_text() == "mine"
    assert (folder / "top_k_reference.py").read_text() == capstone.find("top_k").reference.read_text()


def test_the_page_to_hand_in_has_the_floor_and_the_commands(work_folder: Path) -> None:
    said = course("capstone", "swiglu")
    page = (work_folder / "capstone" / "swiglu.md").read_text()
    moved, _ = capstone.find("swiglu").least()
    assert f"{moved:,} bytes at least" in page
    assert f"moves {capstone.find('swiglu').least('SMALL')[0]:,} bytes at least" in page
    for command in capstone_verb.commands(capstone.find("swiglu")):
        assert command in page and command in said


def test_without_a_folder_the_problems_are_still_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSE_WORK", raising=False)
    monkeypatch.setattr(workspace, "from_wheel", lambda: True)
    monkeypatch.chdir(tmp_path)
    assert "histogram" in course("capstone")


@pytest.mark.thorough
@pytest.mark.slow
def test_the_commands_that_are_named_work_as_they_stand(work_folder: Path) -> None:
    course("capstone", "swiglu")
    problem = capstone.find("swiglu")
    (work_folder / "capstone" / "swiglu.py").write_text(problem.solution.read_text())
    check, profile, compare = (
        subprocess.run(
            [sys.executable, "-m", "grader", *shlex.split(command)],
            capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "120"},
        )
        for command in capstone_verb.commands(problem)
    )  # fmt: skip
    assert (check.returncode, profile.returncode, compare.returncode) == (0, 0, 0), compare.stderr
    assert "gated_kernel" in profile.stdout and "sectors: of 32 bytes" in profile.stdout
    [eager] = (line for line in compare.stdout.splitlines() if "swiglu_compiled.py" in line)
    assert eager.split()[0] == "-"  # nothing was compiled, so there is no row to hand in
    assert capstone_verb.state(problem).startswith("passed ")
