"""The CPU back end with clang++ instead of g++: from an empty cache to a verdict, and again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.clang
@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang++") is None, reason="needs clang++: sudo apt-get install clang")
def test_solutions_pass_and_a_wrong_kernel_fails_with_clang(tmp_path: Path) -> None:
    """Compiling all headers takes a minute or two: among the tests of ``course test --all``."""
    env = os.environ | {"CXX": "clang++", "COURSE_CACHE": str(tmp_path / "cache")}

    def verdict(file: Path, lesson: str = "03") -> dict[str, object]:
        command = [sys.executable, "-m", "grader", "check", lesson, str(file), "--backend", "simt"]
        out = tmp_path / "verdict.json"
        subprocess.run(
            [*command, "--json", str(out)], cwd=course_root(), env=env, timeout=900, check=False,
            capture_output=True,
        )  # fmt: skip
        return dict(json.loads(out.read_text()))

    solution = course_root() / "solutions" / "03_square_kernel" / "solution.py"
    assert verdict(solution)["status"] == "passed"
    shared = course_root() / "solutions" / "12_gemm_epilogue" / "solution.py"
    assert verdict(shared, "12")["status"] == "passed"
    (tmp_path / "edited.py").write_text(solution.read_text().replace("col >= cols", "col > cols"))
    # A check-out gives files new times; the precompiled headers must do all the same.
    os.utime(course_root() / "grader/backends/simt/include" / "simt" / "keywords.h")
    wrong = verdict(tmp_path / "edited.py")
    assert wrong["status"] not in ("passed", "compile_error")
