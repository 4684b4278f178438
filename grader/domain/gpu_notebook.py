"""The notebook in which a GPU of Colab grades what was written elsewhere; it is made from nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbformat import v4

from grader.domain import lesson_notebook

if TYPE_CHECKING:
    from nbformat import NotebookNode

TITLE = """\
# Graded on this GPU

You wrote your file on a machine without a GPU. Here one grades it, also the points that waited for a GPU.
In Colab, choose *Runtime*, *Change runtime type* and a GPU first. Then run the cells from the top."""
PASTE = """\
%%writefile mine.py
# Paste your whole file here, in place of these lines, and run this cell: it writes mine.py.
# Or upload your file as mine.py (in Colab: the folder at the left), and leave this cell out."""
GRADE = """\
# Grades mine.py. Which lesson is it of? More options of `course check` may follow it, as "--time".
from grader.student.lab import notebook_start

notebook_start.grade("07", "mine.py")"""
END = """\
The verdict lies beside `mine.py`, as a page (`mine.html`) and as `mine.json`: download them, in Colab from
the folder at the left. When that machine is given back, its files are gone."""


def build(address: str = "") -> NotebookNode:
    """The notebook; ``address`` is where the course is published."""
    cells = [
        v4.new_markdown_cell(TITLE),
        v4.new_code_cell(lesson_notebook.setup("on_gpu()", address), metadata={"tags": ["setup"]}),
        v4.new_code_cell(PASTE, metadata={"tags": ["file"]}),
        v4.new_code_cell(GRADE, metadata={"tags": ["check"]}),
        v4.new_markdown_cell(END),
    ]
    for k, cell in enumerate(cells):
        cell.id = lesson_notebook.cell_id(f"gpu-{k}")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book: NotebookNode = v4.new_notebook(
        cells=cells, metadata={"accelerator": "GPU", "kernelspec": kernel}
    )  # the accelerator: what Colab starts the notebook with
    return book
