"""``course capstone [NAME]``: the problems to choose from, and the files to begin with.

``work/capstone`` holds them: ``NAME.py`` is the learner's, ``NAME_reference.py`` and ``NAME_compiled.py`` are
what it is held against, ``NAME.md`` is the page to hand in, and ``NAME.json`` the last verdict, which the
check writes.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from rich.table import Table

from grader.domain import capstone, disk, workspace
from grader.domain.installation import COURSE, from_wheel
from grader.domain.lessons import course_root
from grader.reports.console import screen

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.capstone import CapstoneProblem

COMPILED = """

class ModelNew(Model):
    @torch.compile
    def forward(self, *inputs):
        return super().forward(*inputs)
"""


def run(word: str) -> int:
    """List the problems, or lay one out; 0."""
    if not word:
        table()
        return 0
    problem = capstone.find(word)
    kept = lay_out(problem)
    mine = place() / f"{problem.name}.py"
    print(f"{problem.title}, by {problem.idea} (lesson {problem.lesson}).")
    print(f"Yours {'stays as it is' if kept else 'is new'}: {workspace.shown(mine)}\n")
    print("Predict first, on the page that you will hand in; then write, and:")
    for command in commands(problem):
        print(f"  {COURSE} {command}")
    return 0


def commands(problem: CapstoneProblem) -> list[str]:
    """What is typed for a problem that is laid out, after ``course``, in this order."""
    mine, reference, compiled, verdict = (
        shlex.quote(workspace.shown(place() / f"{problem.name}{end}"))
        for end in (".py", "_reference.py", "_compiled.py", ".json")
    )
    check = f"check {mine} --reference {reference}"
    return [
        f"{check} --json {verdict}",
        f"{check} --profile",
        f"compare {mine} {compiled} --reference {reference}",
    ]


def lay_out(problem: CapstoneProblem) -> bool:
    """The files of a problem; whether there were some already, which stay as they are."""
    page = (course_root() / capstone.FOLDER / "hand_in.md").read_text("utf-8")
    moved, operations = problem.least()
    small, _ = problem.least("SMALL")
    reference = problem.reference.read_text("utf-8")
    wanted = {
        f"{problem.name}.py": problem.exercise.read_text("utf-8"),
        f"{problem.name}_reference.py": reference,
        f"{problem.name}_compiled.py": reference.partition("\n\ndef get_inputs")[0] + COMPILED,
        f"{problem.name}.md": page.format(
            title=problem.title, name=problem.name, moved=f"{moved:,}", operations=f"{operations:,}",
            small=f"{small:,}", check=f"{COURSE} {commands(problem)[0]}",
            profile=f"{COURSE} {commands(problem)[1]}", compare=f"{COURSE} {commands(problem)[2]}",
        ),
    }  # fmt: skip
    there = [name for name in wanted if (place() / name).exists()]
    for name, text in wanted.items():
        if name not in there:
            disk.write(place() / name, text)
    return f"{problem.name}.py" in there


def table() -> None:
    """The problems, what each needs, and how far the learner is."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("problem", "what it computes", "lesson", "how long", "you"):
        grid.add_column(head)
    every = capstone.problems()
    states = {problem.name: state(problem) for problem in every}
    for one in every:
        grid.add_row(one.name, one.title, one.lesson, capstone.LEVELS[one.level], states[one.name])
    screen().print(grid)
    if not any(states.values()):
        page = course_root() / capstone.FOLDER / "README.md"
        told = "its page on the course's site" if from_wheel() else workspace.shown(page)
        print(f"\nChoose one: {COURSE} capstone {every[0].name}. What is asked of you: {told}")


def state(problem: CapstoneProblem) -> str:
    """What the learner's last verdict says; "begun" without one, "" where nothing is laid out."""
    if workspace.here() is None or not (place() / f"{problem.name}.py").exists():
        return ""
    try:
        told = json.loads((place() / f"{problem.name}.json").read_text("utf-8"))
        return f"{told['status']} {told['points']}/{told['max_points']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "begun"


def place() -> Path:
    """Where the files of the capstone lie."""
    return workspace.folder() / "capstone"
