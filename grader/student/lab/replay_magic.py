"""``%%replay`` in a notebook: run the cell, and show below it what the threads of its kernel did."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from grader.domain.thread_recording import Recording, Source
from grader.feedback import memory
from grader.protocol.recorded_launch import Asked
from grader.referee.replay_reading import About, Reading
from grader.reports import replay_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.protocol.messages import MemoryFinding, Xyz

MOST = 300_000  # events: what is shown is kept in the notebook


class Magic:
    """The magic of one kernel. ``sources`` gives the texts of its cells by the names of their files."""

    def __init__(self, runtime: Any, shell: Any, sources: Callable[[], dict[str, str]]) -> None:
        self._runtime, self._shell, self._sources = runtime, shell, sources
        self.findings: list[MemoryFinding] = []  # for who tells of them after the cell
        self._error: Exception | None = None

    def __call__(self, line: str, cell: str) -> None:
        """``%%replay [--block x,y,z] [--launch n] [--kernel name]``, and the cell."""
        options = _options(line)
        numbers = [int(n) for n in options.block.split(",")] if options.block else []
        blocks: tuple[Xyz, ...] = ((*numbers, 0, 0)[:3],) if numbers else ()  # type: ignore[assignment]
        asked = Asked(options.kernel, -1 if options.launch is None else options.launch, blocks, most=MOST)
        try:
            found = self._played(cell, asked)
            first = next(iter(memory.errors(self.findings)), None)
            if first and first.block and not blocks and not (found and found.head.findings):
                # Once more, with the block that the finding is about.
                sides = (first.block, first.other.block) if first.other else (first.block,)
                self._runtime.reset()
                again = Asked(first.kernel, -1, tuple(dict.fromkeys(sides)), most=MOST)
                found = self._played(cell, again) or found
        finally:
            self._runtime.recorder.end()
        if found is None:
            print("No kernel was launched in this cell: there is nothing to replay.")
        else:
            from IPython.display import HTML, display

            display(HTML(replay_page.frame(replay_page.page([("", found)]))))  # type: ignore[no-untyped-call]
        if self._error is not None:
            raise self._error

    def _played(self, cell: str, asked: Asked) -> Recording | None:
        self._runtime.recorder.begin(asked)
        code = self._shell.transform_cell(cell)
        name = self._shell.compile.cache(code, self._shell.execution_count, raw_code=cell)
        self._error = None
        try:
            exec(compile(code, name, "exec"), self._shell.user_ns)  # noqa: S102 - the student's own cell
        except Exception as error:  # a kernel's fault comes as one; it is raised once its threads are shown
            self._error = error
        self._runtime.wait()
        self.findings = self._runtime.findings()
        kept = self._runtime.recorder.recorded()
        if kept is None:
            return None
        texts = self._sources() | {name: cell}
        sources = {file.rsplit("/", 1)[-1]: text for file, text in texts.items()}
        about = About(
            "This cell", case="this cell", seen=self.findings,
            sources={file: Source(file, text) for file, text in sources.items()},
        )  # fmt: skip
        said, data = kept
        return Reading(said, data, about).recording()


def _options(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="%%replay")
    parser.add_argument("--block", default="")
    parser.add_argument("--launch", type=int)
    parser.add_argument("--kernel", default="")
    return parser.parse_args(line.split())
