"""Facts about lists that a loop was to fill: made anew in each turn, or given entries in the wrong form; see ``facts.py``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

FILLS = {"append", "extend", "add", "update", "insert"}
MAKES = {"list", "dict", "set"}


def _made_anew(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``pairs = []`` in the loop that fills it, and ``pairs = [(start, end)]`` there."""
    for function, loop in _loops(text):
        for made in (n for n in loop.body if isinstance(n, ast.Assign)):
            name = made.targets[0].id if isinstance(made.targets[0], ast.Name) else ""
            inside = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
            later = any(
                isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and n.lineno > (loop.end_lineno or 0)
                for n in ast.walk(function)
            )  # fmt: skip
            if not name or not later:
                continue
            filled = _filled(loop, name)
            if _empty(made.value) and filled and len(inside) == 1 + filled:
                cause = (
                    f"{name} is made anew in each turn of this loop (line {loop.lineno}): after the loop only what the last "
                    "turn has put into it is left."
                )
                yield Fact("made-anew", made.lineno, cause,
                           f"Make it once, above the loop: move `{ast.unparse(made)}` above line {loop.lineno}.")  # fmt: skip
                return
            before = [
                n
                for n in ast.walk(function)
                if isinstance(n, ast.Assign)
                and n.lineno < loop.lineno
                and _names(n) == [name]
                and _empty(n.value)
            ]
            if isinstance(made.value, ast.List) and len(made.value.elts) == 1 and before and len(inside) == 1:
                entry = ast.unparse(made.value.elts[0])
                cause = f"This gives {name} another list in each turn of the loop, with one entry: after the loop only the last is left."
                yield Fact("made-anew", made.lineno, cause, f"Put the entry into the list that is there: `{name}.append({_argument(entry)})`.")  # fmt: skip
                return


def _added_flat(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``pairs += (start, end)`` where pairs are taken out again, and ``pairs.append(start, end)``."""
    for function, loop in _loops(text):
        for node in ast.walk(loop):
            match node:
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Tuple(elts=parts)):
                    how, shown = (
                        f"adds {len(parts)} entries to {name}, one for each of them",
                        ast.unparse(node),
                    )
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[ast.Tuple(elts=parts)]
                ):
                    how, shown = (
                        f"adds {len(parts)} entries to {name}, one for each of them",
                        ast.unparse(node),
                    )
                case _:
                    continue
            pairs = [
                n
                for n in ast.walk(function)
                if isinstance(n, ast.For | ast.comprehension)
                and isinstance(n.iter, ast.Name)
                and n.iter.id == name
                and isinstance(n.target, ast.Tuple)
                and len(n.target.elts) == len(parts) > 1
            ]
            if pairs:
                entry = ast.unparse(ast.Tuple([*parts], ast.Load()))
                target = ast.unparse(pairs[0].target).strip("()")
                cause = f"`{shown}` {how}; `for {target} in {name}` takes {len(parts)} out of each entry."
                yield Fact(
                    "added-flat", node.lineno, cause, f"Add one entry, a tuple: `{name}.append({entry})`."
                )
                return


def _loops(text: SubmissionText) -> Iterator[tuple[ast.FunctionDef, ast.For | ast.While]]:
    """The loops of the file's functions."""
    for function in ast.walk(text.tree) if text.tree else ():
        if isinstance(function, ast.FunctionDef):
            yield from ((function, n) for n in ast.walk(function) if isinstance(n, ast.For | ast.While))


def _names(node: ast.Assign) -> list[str]:
    return [t.id for t in node.targets if isinstance(t, ast.Name)]


def _argument(entry: str) -> str:
    return entry if entry.startswith("(") or "," not in entry else f"({entry})"


def _empty(value: ast.expr) -> bool:
    """Whether it is an empty list, dict or set, or the 0 of a sum."""
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=0 | 0.0):
            return not (isinstance(value, ast.Constant) and isinstance(value.value, bool))
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return name in MAKES
    return False


def _filled(loop: ast.For | ast.While, name: str) -> int:
    """How often the loop puts something into ``name``."""
    count = 0
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=how)) if of == name and how in FILLS:
                count += 1
            case ast.AugAssign(target=ast.Name(id=of)) if of == name:
                count += 1
            case ast.Subscript(value=ast.Name(id=of), ctx=ast.Store()) if of == name:
                count += 1
    return count


FITS = WRONG | {Status.RAISED, Status.WRONG_ANSWER, Status.CUDA_ERROR}
FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_made_anew, FITS), (_added_flat, FITS))
