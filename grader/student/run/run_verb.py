"""``course run FILE``: in a process of its own, so that a crash or Ctrl-C of the script stays its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from grader.backends import detect
from grader.domain import lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE, from_wheel, python_path
from grader.student.run import cells, cuda_program


def run(file: Path, arguments: list[str], wanted: str) -> int:
    """Run a script, a notebook, a program or a lesson's file (by number) with a cuda device; its exit code.

    That is 1 if the checks found something.
    """
    path = _runnable(file)
    _no_other_file(file, path, arguments)
    choice = detect.choose(wanted)
    if path.suffix == cuda_program.SUFFIX and choice.name == "cuda":
        return cuda_program.run_on_gpu(path, arguments)
    if choice.name == "simt":
        from grader.referee import builder

        builder.prepare(lambda text: print(text, file=sys.stderr))
    code, last_words = _run(choice.name, path, arguments)
    return 1 if _crashed(code, last_words, path) else code


def _runnable(file: Path) -> Path:
    """The file to run, whole, by its path or by a lesson's number; BadInputError says why it cannot be."""
    if str(file).isdigit() and not file.exists():
        file = workspace.file(lessons.find(str(file)))
    if from_wheel() and not file.exists() and file.parts[:1] == ("lessons",):
        file = lessons.course_root() / file  # as a page names an example, which came with the package
    if file.suffix == ".ipynb":  # any notebook, not only a lesson's, whose exercise cells a submission is
        if not file.exists():
            raise BadInputError(f"There is no file {file}; check the spelling.")
        cells.read(file)
    elif file.suffix == ".py":
        submission.read(file)  # says what is wrong with it; Python itself takes any name
    elif file.suffix == cuda_program.SUFFIX:
        cuda_program.check(file)
    else:
        raise BadInputError(
            f"{file} is no Python script (.py), no notebook (.ipynb), no CUDA program (.cu) and no lesson's "
            "number."
        )
    return file.resolve()


def _no_other_file(asked: Path, path: Path, arguments: list[str]) -> None:
    """BadInputError for a lesson's number with a program behind it, which `check` would take and run not."""
    given = Path(arguments[0]) if arguments else None
    by_number = str(asked).isdigit() and not asked.exists()
    if by_number and given is not None and given.suffix in (".py", ".ipynb") and given.is_file():
        raise BadInputError(
            f"`run {asked}` runs {path.name} of your work folder, and not {given}. To run that one, leave "
            f"the number out: `{COURSE} run {given}`."
        )


def _run(backend: str, path: Path, arguments: list[str]) -> tuple[int, bytes]:
    """The exit code of the process that runs the file, and its last words."""
    read, write = os.pipe()
    # -P: nothing in the folder that this is called from shadows a library.
    command = [sys.executable, "-P", "-m", "grader.student.run.run_script", backend, str(write), str(path)]
    env = os.environ | {"PYTHONPATH": python_path()}
    with subprocess.Popen([*command, *arguments], pass_fds=(write,), env=env) as process:
        os.close(write)
        try:
            code = process.wait()
        except KeyboardInterrupt:  # the script has got it too, and may want to say something
            _wait_or_kill(process)
            code = 130
    with os.fdopen(read, "rb") as pipe:
        return code, pipe.read(1 << 16)


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    """Wait for its end; Ctrl-C once more ends it at once."""
    try:
        process.wait()
    except KeyboardInterrupt:
        process.kill()
        process.wait()


def _crashed(code: int, last_words: bytes, path: Path) -> bool:
    """Whether it died of a signal; then say where, as far as its last words tell."""
    from grader.backends.simt.compile import build_cache
    from grader.referee.process import exit_reason

    def built(module: str) -> Path | None:
        found = Path(module)
        return found if found.is_relative_to(build_cache.root()) and found.is_file() else None

    words = exit_reason.LastWords(last_words, built)
    if code >= 0 and not words.crash.signal:  # the CPU back end's handler leaves words and exits
        return False
    fault = exit_reason.ended(code, words, "call")
    text = fault.message.replace(" during the call", "")
    print(f"{path.name}: {text}", file=sys.stderr)
    return True
