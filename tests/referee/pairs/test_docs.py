"""What docs/guide/kernelbench.md says, done: its pair from Python, and its CI commands."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs/guide/kernelbench.md").read_text("utf-8")
BLOCKS = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE, re.S))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("reference.py", "mine.py"):
        (tmp_path / name).write_text(BLOCKS[name])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_page_from_python(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS["api"], "kernelbench.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("passed 12 of 12") and "signs mixed passed" in said


@pytest.mark.slow
def test_the_job_of_the_page(home: Path) -> None:
    command = re.search(r"- run: (pytest .*)", BLOCKS[".github/workflows/kernels.yml"])
    assert command
    (home / "kernels").mkdir()
    for name in ("reference.py", "mine.py"):
        (home / name).rename(home / "kernels" / name)
    words = shlex.split(command[1])[1:]
    root = str(Path(__file__).parents[3])
    env = os.environ | {"PYTHONPATH": root}
    known = {entry.value for entry in importlib.metadata.entry_points(group="pytest11")}
    plugin = [] if "grader.pytest_plugin" in known else ["-p", "grader.pytest_plugin"]
    run = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *words]
    done = subprocess.run(run, cwd=home, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| kernels | mine | passed | passed |" in (home / "summary.md").read_text()
    assert 'name="status" value="passed"' in (home / "kernels.xml").read_text()
