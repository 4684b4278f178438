"""Facts about lists that a loop was to fill: made anew in each turn, or given entries in the wrong form; see ``facts.py``."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

FILLS = {"append", "extend", "add", "update", "insert"}
MAKES = {"list", "dict", "set"}


@dataclass(slots=True)
class _Names:
    """The lines, in order, in which a function names, reads and fills each variable, and makes it empty."""

    named: dict[str, list[int]] = field(default_factory=dict)
    read: dict[str, list[int]] = field(default_factory=dict)
    filled: dict[str, list[int]] = field(default_factory=dict)
    emptied: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def in_function(cls, function: ast.FunctionDef) -> _Names:
        """One walk over the function."""
        found = cls()
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                found.named.setdefault(node.id, []).append(node.lineno)
                if isinstance(node.ctx, ast.Load):
                    found.read.setdefault(node.id, []).append(node.lineno)
            if name := _fills(node):
                found.filled.setdefault(name, []).append(getattr(node, "lineno", 0))
            if isinstance(node, ast.Assign) and (name := _target(node)) and _empty(node.value):
                found.emptied.setdefault(name, []).append(node.lineno)
        for lines in (found.named, found.read, found.filled, found.emptied):
            for one in lines.values():
                one.sort()
        return found


def _between(lines: list[int], first: int, last: int) -> int:
    """How many of the sorted lines lie from ``first`` to ``last``."""
    return bisect_right(lines, last) - bisect_left(lines, first)


def _made_anew(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``pairs = []`` in the loop that fills it, and ``pairs = [(start, end)]`` there."""
    for function in text.python_functions:
        names = _Names.in_function(function)
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.For | ast.While)):
            first, last = loop.lineno, loop.end_lineno or 0
            for made in (n for n in loop.body if isinstance(n, ast.Assign)):
                name = _target(made)
                if not name or names.read.get(name, [0])[-1] <= last:
                    continue
                inside = _between(names.named[name], first, last)
                filled = _between(names.filled.get(name, []), first, last)
                if _empty(made.value) and filled and inside == 1 + filled:
                    cause = (
                        f"{name} is made anew in each turn of this loop (line {first}): after the loop only what the last "
                        "turn has put into it is left."
                    )
                    yield Fact("made-anew", made.lineno, cause,
                               f"Make it once, above the loop: move `{ast.unparse(made)}` above line {first}.")  # fmt: skip
                    return
                before = names.emptied.get(name, [last])[0] < first
                if isinstance(made.value, ast.List) and len(made.value.elts) == 1 and before and inside == 1:
                    entry = ast.unparse(made.value.elts[0])
                    cause = f"This gives {name} another list in each turn of the loop, with one entry: after the loop only the last is left."
                    yield Fact("made-anew", made.lineno, cause, f"Put the entry into the list that is there: `{name}.append({entry})`.")  # fmt: skip
                    return


def _added_flat(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``pairs += (start, end)`` in a loop, where pairs are taken out again."""
    for function in text.python_functions:
        nodes = [*ast.walk(function)]
        taken = {
            (n.iter.id, len(n.target.elts)): ast.unparse(n.target).strip("()")
            for n in nodes
            if isinstance(n, ast.For | ast.comprehension)
            and isinstance(n.iter, ast.Name)
            and isinstance(n.target, ast.Tuple)
        }
        for node in nodes:
            match node:
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Tuple(elts=parts)):
                    pass
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[ast.Tuple(elts=parts)]
                ):
                    pass
                case _:
                    continue
            if len(parts) > 1 and (target := taken.get((name, len(parts)))):
                entry = ast.unparse(ast.Tuple([*parts], ast.Load()))
                cause = (
                    f"`{ast.unparse(node)}` adds {len(parts)} entries to {name}, one for each of them; `for {target} in {name}` "
                    f"takes {len(parts)} out of each entry."
                )
                yield Fact(
                    "added-flat", node.lineno, cause, f"Add one entry, a tuple: `{name}.append({entry})`."
                )
                return


def _target(node: ast.Assign) -> str:
    """The one name that an assignment gives a value to; "" for others."""
    (first, *more) = node.targets
    return first.id if isinstance(first, ast.Name) and not more else ""


def _empty(value: ast.expr) -> bool:
    """Whether it is an empty list, dict or set, or the 0 of a sum."""
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Constant(value=0 | 0.0):
            return not isinstance(value.value, bool)
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return name in MAKES
    return False


def _fills(node: ast.AST) -> str:
    """The variable that this puts something into; "" for everything else."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=how)) if how in FILLS:
            return name
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name
    return ""


FITS = WRONG | {Status.RAISED, Status.WRONG_ANSWER, Status.CUDA_ERROR}
FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_made_anew, FITS), (_added_flat, FITS))
