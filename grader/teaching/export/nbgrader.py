"""A lesson as an assignment for nbgrader: the exercise's cells to fill in, and one cell for its points.

A cell that grades runs in the kernel in which the student's cells ran, which can make it answer anything. So
nothing of the notebook is run: ``nbgrader autograde`` calls :func:`fill_in` in the teacher's process, which
hands the text of the exercise's cells to the course's grader and writes the points where nbgrader looks for
them. ``CONFIG`` makes it do so.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import v4

from grader.domain import lesson_notebook, lessons
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.lessons import Lesson

GRADE = f"""\
# The points of lesson {{}}: nbgrader autograde fills them in. Before you hand in, try {COURSE} check {{}}."""
CONFIG = """\
c = get_config()
# The starter is not a solution: nbgrader's ClearSolutions would empty the student's cells.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.ComputeChecksums",
]
# Nothing that a student wrote runs in a kernel: the course's grader reads it, and runs it in a sandbox.
c.Autograde.autograde_preprocessors = [
    "grader.teaching.export.nbgrader.fill_in",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""
POINTS = re.compile(r"(\d\d_\w+)-points")


def assignment(lesson: Lesson, exercise: str = "") -> str:
    """The notebook for ``source/NAME/``; ``exercise`` other than the starter is for trying it out."""
    page = (lesson.folder / "README.md").read_text("utf-8")
    pictures = lesson_notebook.figures(lesson.folder.parent.parent)
    made = lesson_notebook.build(lesson.name, page, exercise or lesson.exercise.read_text("utf-8"), pictures)
    for cell in made.cells:
        if facts := cell.metadata.pop("course", None):
            cell.metadata = {"nbgrader": _metadata(f"{lesson.name}-{facts.part}", solution=True)}
    grading = GRADE.format(lesson.number, lesson.number)
    facts = _metadata(f"{lesson.name}-points", solution=False) | {"points": lesson.task.max_points}
    key = lesson_notebook.cell_id(f"{lesson.name}-points")
    made.cells.append(v4.new_code_cell(grading, id=key, metadata={"nbgrader": facts}))
    return lesson_notebook.text(made)


def _metadata(name: str, *, solution: bool) -> dict[str, object]:
    """A cell's, as nbgrader's schema version 3 has it."""
    return {
        "schema_version": 3, "grade_id": name, "grade": not solution, "solution": solution,
        "locked": not solution, "task": False,
    }  # fmt: skip


def fill_in(book: Any, resources: Any) -> tuple[Any, Any]:
    """Write the points into the outputs of the cell for them, as an nbconvert preprocessor.

    RuntimeError where the grader could not do its work: nbgrader then says so, and keeps no score.
    """
    for cell in book.cells:
        facts = cell.metadata.get("nbgrader", {})
        if facts.get("grade") and (found := POINTS.fullmatch(str(facts.get("grade_id")))):
            written = [c.source for c in book.cells if c.metadata.get("nbgrader", {}).get("solution")]
            told, points = graded(lessons.find(found[1]), written)
            cell.outputs = [v4.new_output("stream", name="stdout", text=told)]
            # nbgrader takes 0 for full points, and an error for none.
            if points:
                cell.outputs.append(
                    v4.new_output("execute_result", {"text/plain": str(points)}, execution_count=1)
                )
            else:
                cell.outputs.append(v4.new_output("error", ename="NoPoints", evalue="0 points", traceback=[]))
    return book, resources


def graded(lesson: Lesson, cells: Sequence[str]) -> tuple[str, int]:
    """What the check of these cells prints, and its points; in a process of its own.

    Hidden cases are those of ``COURSE_HIDDEN``, a file, or of ``tasks_private/``, as everywhere.
    """
    try:
        text = lesson_notebook.whole(cells)
    except BadInputError as error:
        return f"{error}\n", 0
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "exercise.py", Path(folder) / "verdict.json"
        file.write_text(text, "utf-8")
        words = ["check", lesson.number, str(file), "--json", str(out)]
        private = lessons.private_folder() / f"{lesson.number}.py"
        if hidden := os.environ.get("COURSE_HIDDEN") or (str(private) if private.is_file() else ""):
            words += ["--hidden", hidden]
        done = subprocess.run(
            [sys.executable, "-m", "grader", *words], cwd=lessons.course_root(), capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        verdict = Verdict.from_json(json.loads(out.read_text("utf-8"))) if out.exists() else None
    if verdict is None or any(f.status is Status.NOT_GRADABLE for f in verdict.findings):
        raise RuntimeError(f"Lesson {lesson.number} could not be graded: {done.stderr or done.stdout}")
    return done.stdout or done.stderr, min(verdict.points, lesson.task.max_points)
