"""The CPU back end beside a GPU: whose findings are taken over, and what is said where it is missing."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from grader.backends import cpu_python
from grader.domain import lessons
from grader.domain.part import Check, Part
from grader.domain.verdict import Finding, Status
from grader.referee import cpu_environment, parts

if TYPE_CHECKING:
    from pathlib import Path

    from grader.referee.session import Session

TILES = lessons.find("12")


class Both:
    """A part with two checks of the CPU back end, which must not be made anywhere else."""

    checks = (Check("sectors", 2, "Few sectors.", cpu=True), Check("races", 1, "No race.", cpu=True))

    def judge(self, session: Any) -> list[Finding]:
        raise AssertionError("judged on the GPU")


def judged(found: dict[str, Finding] | str) -> list[Finding]:
    session = cast("Session", SimpleNamespace(on_cpu=lambda: found))
    return parts.judge(cast("Part", Both()), session, loaded=True)


def test_what_the_cpu_back_end_found_is_taken_over() -> None:
    right = Finding("sectors", Status.PASSED, "Counted 4.", 2, 2)
    first, second = judged({"sectors": right, "other": Finding("other", Status.PASSED)})
    assert first is right
    assert (second.status, second.points, second.max_points) == (Status.PENDING_CPU, 0, 1)


def test_without_it_points_stay_open_and_the_reason_is_said() -> None:
    found = judged(cpu_environment.MISSING)
    assert {f.status for f in found} == {Status.PENDING_CPU}
    assert [f.max_points for f in found] == [2, 1]
    assert all("./course companion" in f.message for f in found)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_file_is_graded_by_the_other_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of this environment has the CPU build, so here it is its own companion."""
    monkeypatch.setenv("COURSE_CPU_PYTHON", sys.executable)
    found = cpu_environment.findings("12", TILES.solution, "auto")
    assert isinstance(found, dict)
    wanted = {check.name for part in TILES.task.parts for check in part.checks if check.cpu}
    assert wanted and all(found[name].ok for name in wanted)


@pytest.mark.slow
def test_what_it_does_not_reach_has_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_CPU_PYTHON", sys.executable)
    file = tmp_path / "broken.py"
    file.write_text("import torch\nraise RuntimeError('no kernels today')\n")
    found = cpu_environment.findings("12", file, "auto")
    assert isinstance(found, dict)
    tiles = found["shared tile"]
    assert tiles.status is found["load"].status is Status.IMPORT_ERROR and "no kernels today" in tiles.message


def test_a_machine_that_cannot_grade_leaves_points_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    finding = {"id": "load", "status": "not_gradable", "message": "No g++.", "points": 0, "max_points": 0}
    verdict = tmp_path / "verdict.json"
    verdict.write_text(json.dumps({"findings": [finding | {"evidence": {}}]}))
    python = tmp_path / "python"  # its last argument is the file that the verdict is to be written into
    python.write_text(f'#!/bin/sh\nfor last; do :; done\ncp {verdict} "$last"\n')
    python.chmod(0o755)
    monkeypatch.setenv("COURSE_CPU_PYTHON", str(python))
    said = cpu_environment.findings("12", TILES.solution, "auto")
    assert isinstance(said, str) and said.endswith("could not grade it: No g++.")
    assert judged(said)[0].status is Status.PENDING_CPU


def test_a_python_without_the_grader_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_CPU_PYTHON", str(tmp_path / "python"))
    said = cpu_environment.findings("12", TILES.solution, "auto")
    assert isinstance(said, str) and "gave no verdict" in said


def test_it_is_there_only_once_it_is_complete(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COURSE_CPU_PYTHON", raising=False)
    monkeypatch.setattr(cpu_python, "course_root", lambda: tmp_path)
    assert cpu_python.python() is None
    folder = tmp_path / cpu_python.FOLDER
    folder.mkdir()
    assert cpu_python.python() is None
    (folder / "ready").touch()
    assert cpu_python.python() == folder / "bin" / "python"
