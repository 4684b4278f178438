"""What makes a Jupyter kernel one of the course: a device, ``exercise_NN``, and words below each cell."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.feedback.explain import explain
from grader.student.run import error_words, exercises

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.student.lab.replay_magic import Magic

ATTACHED = "course_backend"  # an attribute of the shell, which knows by it that it is one of ours


class Reporter:
    """After each cell: what the memory checks found in its kernels, and what an error means."""

    def __init__(self, runtime: Any, name: Callable[[str], str]) -> None:
        self._runtime, self._name = runtime, name
        self.magic: Magic | None = None

    def __call__(self, result: Any) -> None:
        """``result`` is IPython's, of the cell that has just run."""
        found = []
        if self._runtime is not None:
            self._runtime.wait()  # a GPU would say it some cells later, or never
            found = self._runtime.findings()
            if self.magic:
                found, self.magic.findings = self.magic.findings + found, []
            if text := error_words.findings(found, len(self._runtime.launches()), self._name):
                print(text, file=sys.stderr)
                if found and self.magic:
                    print("(%%replay as the cell's first line shows what its threads did.)", file=sys.stderr)
            if self._runtime.error():
                self._runtime.reset()
                print(
                    "(On a GPU the kernel would have to be restarted now; here it works on.)", file=sys.stderr
                )
        error = result.error_in_exec
        if error is not None and not found:
            plain = explain(f"{type(error).__name__}: {error}", str(result.info.raw_cell))
            if plain is not None:
                print(f"{plain.cause}\nWhat to do: {plain.fix}", file=sys.stderr)


def cell_file(code: str) -> str:
    """A cell's name by its content alone, so that an unchanged one is not compiled again after a restart."""
    return f"{os.sep}notebook{os.sep}{zlib.crc32(code.encode()):08x}.py"


def device(backend: str) -> Any:
    """Wake the device of the CPU back end; None for a GPU, which needs no waking."""
    session = os.environ.get("JPY_SESSION_NAME")  # Jupyter's server says which notebook it is
    exercises.install(Path(session) if session else None)
    if backend != "simt":
        return None
    from grader.backends.simt.runtime import device
    from grader.student.run import local_build

    return device.activate(local_build.build, local_build.libraries(), step_budget=local_build.STEPS)


def attach(shell: Any, runtime: Any, backend: str) -> None:
    """Have ``shell``, IPython's, name its cells and report below each."""
    import ipykernel.compiler

    from grader.backends.extension import load_inline

    ipykernel.compiler.get_file_name = cell_file

    def cells() -> dict[str, int]:
        return dict(getattr(shell.compile, "_filename_map", {}))

    def name(file: str) -> str:
        number = cells().get(file)
        return f"cell [{number}]" if number else Path(file).name

    reporter = Reporter(runtime, name)
    if runtime is not None:
        from grader.student.lab.replay_magic import Magic

        def texts() -> dict[str, str]:
            return {cell_file(text): text for text in shell.user_ns.get("In", [])}

        reporter.magic = Magic(runtime, shell, texts)
        shell.register_magic_function(reporter.magic, "cell", "replay")
    load_inline.other_cells = lambda: sorted(cells(), key=cells().__getitem__, reverse=True)
    shell.events.register("post_run_cell", reporter)
    setattr(shell, ATTACHED, backend)
