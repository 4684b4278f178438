"""The process that runs a file: ``python -m grader.student.run.run_script BACKEND WORDS FILE
[ARGUMENTS]``."""

from __future__ import annotations

import ast
import ctypes
import os
import runpy
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain import python_text, workspace
from grader.domain.errors import BadInputError
from grader.protocol.process_exit import leave
from grader.student.run import cells, cuda_program, error_words, exercises, local_build, run_tests

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
LONGEST_GOODBYE_S = 3.0


def main(backend: str, words_fd: int, file: Path, arguments: list[str]) -> int:
    """Run the file; its own exit code, or 1 if it raised or the memory checks found more than notes."""
    runtime = _simt(words_fd) if backend == "simt" else None
    sys.argv = [str(file), *arguments]
    sys.path.insert(0, str(file.parent))  # with -P, the first one is the course's own folder
    exercises.install(file)
    with tempfile.TemporaryDirectory(prefix="course-cells-") as folder:
        own = Path(folder) if file.suffix == ".ipynb" else file.parent

        def namer(path: str) -> str:
            name = Path(path).name
            return name.removesuffix(".py").replace("_", " ") if path.startswith(folder) else name

        if runtime:

            def leave_at_once(code: int) -> None:
                os._exit(say_how_it_ended(code, None, own, runtime, namer))

            runtime.at_exit(leave_at_once, crashes=True)
            if file.suffix == cuda_program.SUFFIX:
                _on_interrupt(lambda: leave_at_once(INTERRUPTED))
        code, error = _run(file, own, arguments, runtime, namer)
        return say_how_it_ended(code, error, own, runtime, namer)


def say_how_it_ended(
    code: int, error: BaseException | None, own: Path, runtime: Any, namer: Callable[[str], str]
) -> int:
    """Say what was raised and found; the exit code."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    found = runtime.findings() if runtime else []
    if error:
        theirs = (own, workspace.here() or own)
        print(error_words.trouble(error, theirs, namer, alone=not found), file=sys.stderr)
    if runtime is None:
        return code
    wrong = any(map(error_words.is_wrong, found))
    left = "" if wrong or error else error_words.error_left(runtime.error(), runtime.error_detail())
    summary = error_words.findings(found, len(runtime.launches()), namer)
    for text in filter(None, (left, summary)):
        print(text, file=sys.stderr)
    return code or int(wrong or bool(left))


def _on_interrupt(act: Callable[[], object]) -> None:
    """Have Ctrl-C end a program, in whose code Python hears of nothing; within three seconds in any case."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)

    def watch() -> None:
        while signal.SIGINT not in os.read(read, 64):
            pass
        threading.Timer(LONGEST_GOODBYE_S, os._exit, (INTERRUPTED,)).start()
        act()

    threading.Thread(target=watch, daemon=True).start()


def _simt(words_fd: int) -> Any:
    """The CPU back end's runtime, which gives this process a cuda device."""
    from grader.backends.simt.runtime import device

    steps = int(os.environ.get("SIMT_STEPS", local_build.STEPS))
    return device.activate(
        local_build.build, local_build.libraries(), last_words_fd=words_fd, step_budget=steps
    )


def _run(
    file: Path, own: Path, arguments: list[str], runtime: Any, namer: Callable[[str], str]
) -> tuple[int, BaseException | None]:
    """Run a notebook, a program, a file of tests or a script: its exit code, and what it raised."""
    try:
        if file.suffix == ".ipynb":
            _notebook(file, own)
        elif file.suffix == cuda_program.SUFFIX:
            return cuda_program.run(file, arguments), None
        elif run_tests.collected(file):
            return run_tests.run(file, arguments, runtime, namer), None
        else:
            runpy.run_path(str(file), run_name="__main__")
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None), None
    except KeyboardInterrupt:
        return INTERRUPTED, None
    except BadInputError:
        raise
    except BaseException as error:
        return 1, error
    return 0, None


def _notebook(file: Path, folder: Path) -> None:
    """Run the cells in one namespace, each from a file of its own; show a last expression as Jupyter does."""
    space: dict[str, object] = {"__name__": "__main__", "__file__": str(file)}
    for cell in cells.read(file):
        path = folder / f"cell_{cell.number}.py"
        path.write_text(cell.source, "utf-8")
        tree = python_text.parse(cell.source, str(path))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), space)  # noqa: S102 - the student's own notebook
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), space)  # noqa: S307
            if value is not None:
                print(repr(value))


if __name__ == "__main__":
    try:
        code = main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
    except BadInputError as bad:
        print(f"course: {bad}", file=sys.stderr)
        code = 2
    leave(code)
