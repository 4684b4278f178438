"""What reads a submission's text is done in time, whatever stands in it."""

from __future__ import annotations

import hashlib
import json
import linecache
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.backends.cuda.compile import host_text
from grader.backends.detect import Choice
from grader.backends.extension import origins
from grader.backends.simt.compile import headers
from grader.backends.simt.compile.rewrite import registration, rewrite
from grader.domain import notebook, submission
from grader.domain.errors import BadInputError
from grader.domain.lessons import load_task
from grader.domain.options import GradingOptions
from grader.domain.submission import Submission
from grader.domain.task import Task
from grader.feedback.explain import source_text
from grader.feedback.look import look
from grader.referee.job import Job
from grader.referee.pipeline import check, warm_reference
from grader.referee.process.player_process import Limits
from grader.referee.session import LOGGED
from tests import hostile_texts
from tests.corpus.entries import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICK, LARGE = 1500, 60_000
TASK = Task(title="A hostile file", entry="double", kind="function")
EVERY = tuple(hostile_texts.every(QUICK))


def read_all(text: str) -> None:
    """By everything that reads a file without a limit of time of its own."""
    one = Submission(Path("x.py"), text, hashlib.sha256(text.encode()).hexdigest())
    one.syntax_error()
    look(one, TASK)
    cuda = text.split('r"""', 1)[-1].rsplit('"""', 1)[0]
    rewrite(cuda)
    registration([cuda])
    headers.needs_full(cuda)
    headers.uses_pybind(cuda)
    try:
        host_text.split(cuda)
    except host_text.CannotError as error:
        assert str(error)
    notebook.plain(text)
    LOGGED.sub("", f"[W1234 {text}")
    source_text.read(text)
    where_from(text)


def where_from(text: str) -> None:
    """Whether each line of the C++ is found in the Python."""
    linecache.cache["hostile.py"] = len(text), None, text.splitlines(keepends=True), "hostile.py"
    origins.pieces(text.split('r"""', 1)[-1].rsplit('"""', 1)[0], ["hostile.py"])


def test_there_are_more_than_two_hundred() -> None:
    assert len(EVERY) == len({name for name, _ in EVERY}) >= 200


@pytest.mark.parametrize("part", range(4))
def test_each_is_read_to_its_end(part: int) -> None:
    for name, text in EVERY[part::4]:
        begun = time.process_time()
        read_all(text)
        assert time.process_time() - begun < 1.5, name


@pytest.mark.parametrize("piece", ["{([", "'\\\n", "k<<<\n", "f() {", "f(a) {}\n", "float a{0} = 1;\n"])
def test_long_texts_are_found_again(piece: str) -> None:
    text = hostile_texts.FRAME.format(cuda=hostile_texts.many(piece, 8 * LARGE))
    begun = time.process_time()
    where_from(text)
    source_text.read(text)
    assert time.process_time() - begun < 8.0


@pytest.mark.parametrize(
    "piece",
    ["__shared__ ", "extern __shared__ ", "k<<<", "<<<", "/*", '\\"', 'R"a(', "(", "__global__ void k(",
     "__device__ ", "void f() {} ", "cub::a{0} ", "/**/", "__constant__ a {", "__constant__ float a[1] "],
)  # fmt: skip
def test_twice_the_text_takes_about_twice_the_time(piece: str) -> None:
    """Of the kinds that were quadratic; each is of sixty thousand characters."""
    text = hostile_texts.many(piece, LARGE)
    begun = time.process_time()
    rewrite(text)
    registration([text])
    assert time.process_time() - begun < 3.0


def test_a_launched_launch_does_not_double_the_text() -> None:
    text = dict(hostile_texts.every(3000))["launched launches"]
    assert len(rewrite(text)) < 10 * len(text)


@pytest.mark.parametrize("text", ["asm(", "cub::", "cuda::", "#", "cudaLaunchKernel()", "__global__", "k<<<"])
def test_a_text_may_end_anywhere(text: str) -> None:
    assert rewrite(text).endswith(text[-2:])


def _notebook(cells: list[str]) -> bytes:
    made = [
        {
            "cell_type": "code",
            "source": text,
            "metadata": {"tags": ["exercise"], "course": {"part": n, "of": 2}},
        }
        for n, text in enumerate(cells, 1)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


@pytest.mark.parametrize("line", ["!ls\n", "%%time\n", "%time x\n"])
def test_a_cell_of_many_magics_is_read(line: str) -> None:
    begun = time.process_time()
    assert notebook.source(_notebook([line * 3000, "x = 1"]), Path("x.ipynb")).endswith("x = 1\n")
    assert time.process_time() - begun < 3.0


def test_a_notebook_of_nested_lists_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "deep.ipynb"
    file.write_bytes(b"[" * 100_000)
    with pytest.raises(BadInputError, match="not a notebook"):
        submission.read(file)


def _large() -> Iterator[pytest.ParameterSet]:
    for name, text in hostile_texts.every(LARGE):
        yield pytest.param(text, id=name, marks=pytest.mark.thorough)


@pytest.mark.parametrize("text", list(_large()))
def test_no_grading_takes_longer_than_its_limits(text: str, tmp_path: Path) -> None:
    """Each file is graded as a student's is: all of what is read, built and run, with short limits."""
    file = tmp_path / "hostile.py"
    file.write_text(text, "utf-8", "surrogatepass")
    folder = HERE / "tasks" / "double"
    limits = Limits(load=10.0, build=20.0, call=5.0, memory_bytes=2 << 30)
    begun = time.monotonic()
    try:
        handed_in = submission.read(file)
    except BadInputError:
        return
    task, choice = load_task(folder / "task.py"), Choice("simt", "hostile")
    job = Job("corpus/double", task, folder / "reference.py", handed_in, choice, limits, GradingOptions())
    verdict = check(warm_reference(job)).verdict
    assert verdict.points < verdict.max_points
    # Importing and building end in their time; nothing after them takes longer than is left here.
    assert time.monotonic() - begun < 10.0 + 20.0 + 10.0
