"""A lesson as an assignment for nbgrader: the exercise's cells to fill in, and one cell that grades them.

The grading cell hands the text of the exercise's cells, as they were run, to the course's grader in a process
of its own; its last line is the points, which nbgrader takes as partial credit.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import v4

from grader.domain import lessons, notebook
from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.lessons import Lesson

PART = "# exercise, part {} of {}"
MARK = re.compile(r"^# exercise, part (\d+) of (\d+)$", re.M)
GRADE = """\
# This cell grades. Leave it as it is; it needs the course's grader in nbgrader's environment.
from grader.teaching.export import nbgrader

nbgrader.points("{}", In)"""


def assignment(lesson: Lesson, exercise: str = "") -> str:
    """The notebook for ``source/NAME/``; ``exercise`` other than the starter is for trying it out."""
    page = (lesson.folder / "README.md").read_text("utf-8")
    made = notebook.build(lesson.name, page, exercise or lesson.exercise.read_text("utf-8"))
    for cell in made.cells:
        if facts := cell.metadata.pop("course", None):
            cell.source = PART.format(facts.part, facts.of) + "\n" + cell.source
            cell.metadata = {"nbgrader": _metadata(f"{lesson.name}-{facts.part}", solution=True)}
    grading = GRADE.format(lesson.number)
    facts = _metadata(f"{lesson.name}-points", solution=False) | {"points": lesson.task.max_points}
    key = notebook.cell_id(f"{lesson.name}-points")
    made.cells.append(v4.new_code_cell(grading, id=key, metadata={"nbgrader": facts}))
    return notebook.text(made)


def _metadata(name: str, *, solution: bool) -> dict[str, object]:
    """A cell's, as nbgrader's schema version 3 has it."""
    return {
        "schema_version": 3, "grade_id": name, "grade": not solution, "solution": solution,
        "locked": not solution, "task": False,
    }  # fmt: skip


def source(cells: Sequence[str]) -> str:
    """The exercise's text from what was run: the last run of each part, in the order of the parts."""
    parts: dict[int, str] = {}
    total = 0
    for text in cells:
        if found := MARK.search(text):
            parts[int(found[1])], total = text, int(found[2])
    missing = sorted(set(range(1, total + 1)) - set(parts))
    if not parts or missing:
        raise BadInputError(
            f"Part {missing[0] if missing else 1} of the exercise was not run; is its cell there?"
        )
    return "\n\n".join(parts[k] for k in sorted(parts)) + "\n"


def points(lesson: str, cells: Sequence[str]) -> int:
    """Grade in a process of its own, print every check in a line, and answer the points."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "exercise.py", Path(folder) / "verdict.json"
        file.write_text(source(cells), "utf-8")
        words = ["check", lesson, str(file), "--json", str(out)]
        done = subprocess.run(
            [sys.executable, "-m", "grader", *words], cwd=lessons.course_root(), capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        print(done.stdout or done.stderr)
        return int(json.loads(out.read_text("utf-8"))["points"]) if out.exists() else 0
