"""Facts about kernels in Python that ran on a grid of threads: loops over all elements, sums that begin wrong."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator


def _kernel(text: SubmissionText, finding: Finding) -> ast.FunctionDef | None:
    """The kernel that the check has run."""
    name = finding.evidence.get("on_grid")
    functions = [n for n in ast.walk(text.tree) if isinstance(n, ast.FunctionDef)] if text.tree else []
    return next((f for f in functions if f.name == name), None)


def _loop_of_a_thread(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for i in range(n): out[i] = ...`` in what each thread runs."""
    kernel = _kernel(text, finding)
    for node in ast.walk(kernel) if kernel else ():
        if not (kernel and isinstance(node, ast.For) and isinstance(node.target, ast.Name)):
            continue
        index, given = node.target.id, [a.arg for a in kernel.args.args]
        every = re.fullmatch(r"range\((?:0, )?(?:len\(\w+\)|n)\)", ast.unparse(node.iter))
        stored = [n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Subscript)
                  and isinstance(n.ctx, ast.Store) and ast.unparse(n.slice) == index]  # fmt: skip
        if every and stored:
            cause = f"This loop goes over all elements, and each thread runs it: each element of {ast.unparse(stored[0].value)} is written by all threads, not by one."
            own = (
                f"{index} is given, and is the thread's own number"
                if index in given
                else "each thread does the one element of its own number"
            )
            yield Fact(
                "loop-of-a-thread", node.lineno, cause, f"The threads are the loop. Take it away: {own}."
            )
            return


def _own_forgotten(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``total = 0`` at the begin of a sum to which the thread's own element is never added."""
    lost = re.search(
        r"(?<!and )(?P<x>\w+)\[(?P<i>\d+)\] would have to be read for \w+\[(?P=i)\] as well", finding.message
    )
    kernel = _kernel(text, finding)
    if lost is None or kernel is None:
        return
    for node in ast.walk(kernel):
        if not (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value == 0
        ):
            continue
        target = ast.unparse(node.targets[0])
        added = [
            n for n in ast.walk(kernel) if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == target
        ]
        if added and not isinstance(node.value.value, bool):
            own = _own_index(kernel)
            cause = f"{target} begins with 0, and the thread's own element, {lost['x']}[{own}], is nowhere added to it."
            yield Fact(
                "own-forgotten", node.lineno, cause, f"Begin with it: `{target} = {lost['x']}[{own}]`."
            )
            return


def _own_index(kernel: ast.FunctionDef) -> str:
    """What the kernel writes ``out`` with: the number of the thread's own element."""
    stored = [n for n in ast.walk(kernel) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    return ast.unparse(stored[-1].slice) if stored else "i"


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_loop_of_a_thread, frozenset({Status.TIMEOUT, Status.RACE})),
    (_own_forgotten, frozenset({Status.WRONG_OUTPUT})),
)
