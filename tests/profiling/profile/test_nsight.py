"""``counters.py``, run with a stand-in for nsight-python: its GPU is not there, its call forms are."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

from grader.domain.lessons import course_root
from grader.profiling.profile import nsight_script, subjects

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

# The forms of nsight-python 1.1: analyze.kernel with these keywords, annotate, to_dataframe of what is given.
NSIGHT = """
import contextlib, sys, types
assert "torch" not in sys.modules, "ncu is attached before CUDA starts"
class Frame:
    def to_string(self, index): return f"{said}"
said = []
def kernel(*, metrics, combine_kernel_metrics):
    assert combine_kernel_metrics(2, 3) == 5
    def decorate(function):
        def counted():
            assert function() is None, "a decorated function returns nothing"
            said.extend(metrics)
            return types.SimpleNamespace(to_dataframe=Frame)
        return counted
    return decorate
analyze = types.SimpleNamespace(kernel=kernel)
@contextlib.contextmanager
def annotate(name):
    said.append(name)
    yield
"""
CALL = """
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
def once(): pass
"""


def test_the_calls_are_made_and_counted(tmp_path: Path) -> None:
    lesson = subjects.find("03", course_root() / "solutions" / "03_square_kernel" / "solution.py")
    (tmp_path / "nsight.py").write_text(NSIGHT)
    (tmp_path / "call.py").write_text(CALL)
    script = tmp_path / nsight_script.NAME
    script.write_text(nsight_script.text(lesson))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("calls", "lts__t_bytes.sum", "dram__bytes_read.sum", "gpu__time_duration.sum"):
        assert repr(name) in done.stdout


def test_where_it_is_missing_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    lesson = subjects.find("03", course_root() / "solutions" / "03_square_kernel" / "solution.py")
    script = subjects.find(str(file), None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "nsight-python counts the same; it is not installed" in nsight_script.sentence(lesson, tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    assert nsight_script.NAME in nsight_script.sentence(lesson, tmp_path)
    assert "@nsight.analyze.kernel" in nsight_script.sentence(script, tmp_path)
