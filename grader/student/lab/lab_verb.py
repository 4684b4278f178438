"""``course lab [LESSON]``: start Jupyter and wait for its end."""

from __future__ import annotations

import os
import subprocess
import sys

from grader.backends import detect
from grader.domain import lessons, packages, workspace
from grader.domain.errors import BadInputError
from grader.student.lab import lab_files

APPS = ("jupyterlab", "notebook")
DEFAULT = f"--MultiKernelManager.default_kernel_name={lab_files.KERNEL}"  # of notebooks that are new


def run(lesson: str, wanted: str, more: list[str]) -> int:
    """Open the lesson's notebook, or the folder of all; ``more`` are words for Jupyter. Its exit code."""
    choice = detect.choose(wanted)
    module = application()
    if choice.name == "simt":
        from grader.referee import builder

        builder.prepare(lambda text: print(text, file=sys.stderr))
    found = lab_files.notebooks()
    at = lab_files.notebook(lessons.find(lesson)) if lesson else workspace.folder()
    env = os.environ | lab_files.environment(lab_files.spec(choice))
    print(
        f"{len(found)} notebooks in {workspace.shown(workspace.folder())}; Ctrl-C twice ends Jupyter.",
        file=sys.stderr,
    )
    command = [sys.executable, "-m", module, str(at), DEFAULT, *more]
    with subprocess.Popen(command, env=env, cwd=workspace.folder()) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # Jupyter has got it too, and asks whether it is meant
                continue


def application() -> str:
    """The installed Jupyter application; BadInputError says how to get one."""
    packages.require("Jupyter", "ipykernel")
    for name in APPS:
        if not packages.missing(name):
            return name
    raise BadInputError(f"Jupyter is not installed; {packages.how(APPS[0])}")
