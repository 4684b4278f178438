"""All lessons' notebooks, filled in with the solution, execute with nbconvert on the CPU back end.

One kernel serves all of them, emptied in between: what takes time is starting a kernel and importing torch.
Compiled kernels are cached by content, as everywhere.
"""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.backends import detect
from grader.domain import notebook
from grader.domain.lessons import Lesson, course_root, every
from grader.referee import builder
from grader.student.lab import lab_files
from tools.lesson_check import missing

NEEDED = ("nbconvert", "nbformat", "ipykernel", "jupyter_client")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
WHY = f"needs {', '.join(LACKING)}: pip install -e '.[notebooks]'"
pytestmark = pytest.mark.skipif(bool(LACKING), reason=WHY)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from jupyter_client.manager import KernelManager

    choice = detect.choose("auto")
    if choice.name == "simt":
        builder.prepare(lambda _: None)
    before = dict(os.environ)
    os.environ |= {"JUPYTER_PATH": str(lab_files.spec(choice)), "PYTHONPATH": str(course_root())}
    manager = KernelManager(kernel_name=lab_files.KERNEL)
    manager.start_kernel(cwd=str(tmp_path_factory.mktemp("kernel")))
    yield manager
    manager.shutdown_kernel(now=True)
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_a_solved_notebook_executes(lesson: Lesson, kernel: Any, tmp_path: Path) -> None:
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    if lacking := missing(lesson):
        pytest.skip(f"needs {lacking}")
    page = (lesson.folder / "README.md").read_text("utf-8")
    text = notebook.text(notebook.build(lesson.name, page, lesson.solution.read_text("utf-8")))
    book = nbformat.reads(text, as_version=4)
    book.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    defined = f"assert callable({lesson.task.entry})"
    book.cells.append(nbformat.v4.new_code_cell(defined))
    ExecutePreprocessor(timeout=300).preprocess(book, {"metadata": {"path": str(tmp_path)}}, km=kernel)
    cells = [c for c in book.cells if c.cell_type == "code"]
    assert all(c.execution_count for c in cells)
    assert not [o for c in cells for o in c.outputs if o.output_type == "error"]
