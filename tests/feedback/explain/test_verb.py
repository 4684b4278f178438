"""``course explain`` as it is typed."""

import os
import subprocess
import sys
from pathlib import Path

from grader.domain.lessons import course_root
from tests.feedback.explain import make


def course(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", "explain", *words]
    return subprocess.run(
        command,
        cwd=course_root(),
        input=given,
        capture_output=True,
        text=True,
        env=dict(os.environ),
        timeout=120,
    )


def test_a_line() -> None:
    done = course("error: expected ';' before 'if'")
    assert done.returncode == 0
    assert done.stdout.startswith("A statement does not end")
    assert "What to do: End the statement with ;" in done.stdout


def test_a_log_from_a_pipe_and_the_file_it_is_about(tmp_path: Path) -> None:
    mistake = next(m for m in make.every() if m.name == "writes_const")
    (tmp_path / "mine.py").write_text(mistake.program)
    done = course("--source", str(tmp_path / "mine.py"), given=mistake.captured("nvcc"))
    assert done.returncode == 0
    assert "Where: line 17: in[i] = factor" in done.stdout


def test_an_unknown_error_is_said_to_be_unknown() -> None:
    done = course("error: the flux capacitor is cold")
    assert done.returncode == 1
    assert "no guess" in done.stdout and "flux capacitor" in done.stdout


def test_nothing_to_explain() -> None:
    done = course()
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "There is no error to explain" in done.stderr
    assert course("--source", "nowhere.py", "error: x").returncode == 2
