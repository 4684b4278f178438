"""``course run FILE``: in a process of its own, so that a crash or Ctrl-C of the script stays its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from grader import backend, submission
from grader.errors import BadInputError
from grader.lessons import course_root


def run(file: Path, arguments: list[str], wanted: str) -> int:
    """Run a script or notebook with a cuda device; its exit code, or 1 if the checks found something."""
    if file.suffix not in (".py", ".ipynb"):
        raise BadInputError(f"{file} is neither a Python script (.py) nor a notebook (.ipynb).")
    path = submission.read(file).path
    choice = backend.choose(wanted)
    if choice.name == "simt":
        from grader import build

        build.prepare(lambda text: print(text, file=sys.stderr))
    read, write = os.pipe()
    # -P: nothing in the folder that this is called from shadows a library.
    command = [
        sys.executable,
        "-P",
        "-m",
        "grader.run.script",
        choice.name,
        str(write),
        str(path),
        *arguments,
    ]
    paths = [str(course_root()), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with subprocess.Popen(command, pass_fds=(write,), env=env) as process:
        os.close(write)
        try:
            code = process.wait()
        except KeyboardInterrupt:  # the script has got it too, and may want to say something
            process.wait()
            code = 130
    with os.fdopen(read, "r", errors="replace") as words:
        if code < 0:
            _crashed(-code, words.read(), path)
            return 1
    return code


def _crashed(signal: int, words: str, path: Path) -> None:
    """Say where a process died, as far as its last words tell."""
    from grader.referee import death

    fault = death.ended(-signal, death.Words(words.encode()), "call")
    text = fault.message.replace("during the call ", "").replace("crashed during the call", "crashed")
    print(f"{path.name}: {text}", file=sys.stderr)
