"""A dying process leaves one line that says where it was."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from grader.backends.simt.addresses import resolve

from .conftest import HERE, PROGRAMS, line_of


@pytest.mark.parametrize(("how", "name"), [("segfault", "SIGSEGV"), ("abort", "SIGABRT")])
def test_last_words(how: str, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader.backends.simt", str(PROGRAMS / "crash.py"), how],
        cwd=HERE.parents[2], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode > 128, done.stderr
    words = json.loads(done.stderr.splitlines()[-1])
    assert words["name"] == name and words["kernel"] == ""
    if how == "segfault":
        at = words["module"], words["pc"]
        file, line = resolve([at])[at]
        assert file.endswith("crash.py") and line == line_of("crash", "segfault")


def test_torch_must_not_come_first() -> None:
    code = "import sys; sys.modules['torch'] = sys; from grader.backends.simt.runtime.device import activate; activate(str, ())"
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE.parents[2], capture_output=True, text=True)
    assert "torch was imported before the CPU back end was activated" in done.stderr


def test_the_trusted_side_does_not_import_torch() -> None:
    code = "import sys, grader.backends.simt.compile.compiler, grader.backends.simt.runtime.memory_findings; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=HERE.parents[2], check=True)
