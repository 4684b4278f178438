"""How much of its solution a lesson shows where nothing has been opened: on its page, and in its notebook."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from grader.domain import folds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.domain.lessons import Lesson
    from tools.mutants import Solved

MOST = 0.2
SHORTEST = 9  # characters of a line that can give anything away
UNLIKELY = 24  # characters of a line that two authors would not write alike
TRIVIAL = ("#", "//", '"""', "import", "from")
FENCE = re.compile(r"^( *)(`{3,})[^\n`]*\n(.*?)^\1\2 *$", re.M | re.S)
OF_SOLUTION = re.compile(r"<!-- code: (solutions/\S+) -->")


def telling(solution: str, starter: str = "") -> list[str]:
    """Lines of a solution that its starter does not have and that say something."""
    given = {line.strip() for line in starter.splitlines()}
    lines = (line.strip() for line in solution.splitlines())
    return [x for x in lines if len(x) >= SHORTEST and not x.startswith(TRIVIAL) and x not in given]


def share(lesson: Solved, page: str) -> float:
    """The part of the solution's lines that the code blocks of ``page`` show outside folds, from 0 to 1."""
    shown = {line.strip() for *_, block in FENCE.findall(folds.outside(page)) for line in block.splitlines()}
    own = telling(lesson.solution.read_text("utf-8"), lesson.exercise.read_text("utf-8"))
    return sum(line in shown for line in own) / max(1, len(own))


def only_solved(every: list[Lesson]) -> dict[str, set[str]]:
    """By lesson the lines that only its solutions have: no file that is given to students has them."""
    known = {line.strip() for lesson in every for text in _given(lesson) for line in text.splitlines()}
    found = {}
    for lesson in every:
        files = [lesson.solution, *sorted((lesson.solution.parent / "alternatives").glob("*.py"))]
        own = {line for path in files for line in telling(path.read_text("utf-8"))}
        found[lesson.name] = {line for line in own - known if len(line) >= UNLIKELY}
    return found


def _given(lesson: Lesson) -> Iterator[str]:
    names = ("exercise.py", "sibling.py", "hints.md", "reference.py", "task.py")
    yield from (path.read_text("utf-8") for n in names if (path := lesson.folder / n).is_file())
    yield folds.outside((lesson.folder / "README.md").read_text("utf-8"))


def problems(lesson: Lesson) -> Iterator[str]:
    """What gives the solution away, a sentence each."""
    page = (lesson.folder / "README.md").read_text("utf-8")
    for shown in OF_SOLUTION.findall(folds.outside(page)):
        yield f"the page shows {shown} outside a fold '{folds.COMPARE}'; explain with a sibling.py."
    for name, text in {"page": page, "notebook": _notebook(lesson.folder / "lesson.ipynb")}.items():
        if (part := share(lesson, text)) > MOST:
            yield f"the {name} shows {part:.0%} of the solution outside folds; {MOST:.0%} is the most."


def _notebook(path: Path) -> str:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
