"""Programs run in processes of their own, since a cuda device must exist before torch is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.backends.simt.compile import build_cache
from grader.backends.simt.compile import compiler as builder

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
Play = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session", autouse=True)
def prepared() -> None:
    """Headers and libraries, built once for all tests."""
    builder.prepare()


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Runs programs/NAME.py; what it and the runtime said about each of its cases.

    Several processes of pytest share the answers: the first that asks runs the program.
    """
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    answers: dict[str, dict[str, Any]] = {}

    def run(name: str) -> dict[str, Any]:
        if name not in answers:
            out = build_cache.once(shared / "answers" / f"{name}.json", lambda out: _ask(name, out))
            answers[name] = json.loads(out.read_text())
        assert "failed to run" not in answers[name], answers[name]["failed to run"]
        return answers[name]

    return run


def _ask(name: str, out: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.backends.simt.player", str(PROGRAMS / f"{name}.py"), str(out)],
        cwd=HERE.parents[2], capture_output=True, text=True, timeout=900,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    if done.returncode:
        out.write_text(json.dumps({"failed to run": f"code {done.returncode}\n{done.stdout}{done.stderr}"}))


def errors_of(program: Path) -> dict[str, Any]:
    """What a program prints last. It runs as a student's does: a block may take more steps than in ``play``."""
    done = subprocess.run(
        [sys.executable, "-m", "grader.backends.simt", str(program)],
        cwd=HERE.parents[2], capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr  # 3 if anything was found
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def line_of(program: str, marker: str) -> int:
    """The line of programs/NAME.py that holds ``// marker``."""
    lines = (PROGRAMS / f"{program}.py").read_text().splitlines()
    found = [i for i, line in enumerate(lines, 1) if line.rstrip().endswith(f"// {marker}")]
    assert len(found) == 1, marker
    return found[0]
