"""The problems of the capstone: the folders of ``lessons/capstone/problems``.

A folder holds ``reference.py`` (its ``FULL`` and ``SMALL`` are the sizes on a GPU and without one),
``problem.toml`` (title, idea, and what a call moves and computes at least), ``exercise.py`` and
``mutants.toml``.
"""

from __future__ import annotations

import ast
import difflib
import operator
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER = "lessons/capstone"
LEVELS = {1: "short", 2: "middling", 3: "long"}
RULES: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CapstoneProblem:
    """One problem. ``bytes_rule`` and ``operations_rule`` are sums of products of its sizes."""

    name: str
    folder: Path
    title: str
    lesson: str
    idea: str
    level: int
    bytes_rule: str
    operations_rule: str

    @property
    def reference(self) -> Path:
        """``Model``, ``get_inputs`` and ``get_init_inputs``."""
        return self.folder / "reference.py"

    @property
    def exercise(self) -> Path:
        """The starter that the learner edits."""
        return self.folder / "exercise.py"

    @property
    def solution(self) -> Path:
        """What the exercise becomes."""
        return self.folder.parents[3] / "solutions" / "capstone" / f"{self.name}.py"

    def sizes(self, which: str = "FULL") -> dict[str, int]:
        """The sizes by name: of ``FULL`` or of ``SMALL``. The file is read and never imported."""
        for node in python_text.parse(self.reference.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == which:
                assert isinstance(node.value, ast.Dict)
                names = [ast.literal_eval(key) for key in node.value.keys if key is not None]
                return {
                    n: computed(ast.unparse(v), {}) for n, v in zip(names, node.value.values, strict=True)
                }
        raise BadInputError(f"{self.reference} has no {which}.")

    def least(self, which: str = "FULL") -> tuple[int, int]:
        """The bytes that a call moves at least, and the operations that it makes."""
        sizes = self.sizes(which)
        return computed(self.bytes_rule, sizes), computed(self.operations_rule, sizes)


def computed(rule: str, sizes: dict[str, int]) -> int:
    """The value of a sum of products over ``sizes``; BadInputError for anything else."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp) and type(node.op) in RULES:
            return RULES[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Name) and node.id in sizes:
            return sizes[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        raise BadInputError(f"{ast.unparse(node)} in {rule!r} is no number, no size and no sum or product.")

    return value(python_text.parse(rule, mode="eval").body)


def find(word: str) -> CapstoneProblem:
    """The problem of that name; BadInputError names one that is like it."""
    every = {problem.name: problem for problem in problems()}
    name = word.strip().lower().replace("-", "_").removesuffix(".py")
    if name not in every:
        near = difflib.get_close_matches(name, every, 1, 0.4)
        like = f" Did you mean {near[0]}?" if near else ""
        raise BadInputError(f"The capstone has no problem {word!r}.{like} There are: {', '.join(every)}.")
    return every[name]


def problems(root: Path | None = None) -> list[CapstoneProblem]:
    """All problems, the short ones first."""
    folder = (root or course_root()) / FOLDER / "problems"
    found = [_read(path) for path in folder.glob("*/problem.toml")]
    return sorted(found, key=lambda problem: (problem.level, problem.name))


def _read(path: Path) -> CapstoneProblem:
    told = tomllib.loads(path.read_text("utf-8"))
    folder = path.parent.resolve()
    return CapstoneProblem(
        folder.name, folder, told["title"], told["lesson"], told["idea"], told["level"], told["bytes"],
        told["operations"],
    )  # fmt: skip
