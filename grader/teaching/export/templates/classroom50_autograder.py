#!/usr/bin/env python3
"""Classroom 50 runs this in the student's checkout; it writes result.json there. Lesson @LESSON@.

Exit code 0 when it ran, whatever the result; another one is the runner's fault and costs the student nothing.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LESSON = "@LESSON@"
COURSE = Path(__file__).resolve().parent / "course"
ROOM = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()) / "course-venv"


def python() -> str:
    """The interpreter with the course in it: given, or made here on first use."""
    if given := os.environ.get("COURSE_PYTHON"):
        return given
    own = ROOM / "bin" / "python"
    if not own.exists():
        venv.create(ROOM, with_pip=True)
        pip = [str(own), "-m", "pip", "install", "-q", "-c", str(COURSE / "constraints.txt")]
        cpu = ["--no-deps", "--index-url", "https://download.pytorch.org/whl/cpu", "torch"]
        subprocess.run([*pip, *cpu], check=False)  # a GPU runner has another torch, or takes the default one
        subprocess.run([*pip, "-e", str(COURSE)], check=True)
    return str(own)


if __name__ == "__main__":
    env = os.environ | {"COURSE_ROOT": str(COURSE), "PYTHONPATH": str(COURSE)}
    words = ["-m", "grader.teaching.export.autograde", "classroom50", LESSON, str(Path.cwd()), "result.json"]
    sys.exit(subprocess.run([python(), *words], env=env, check=False).returncode)
