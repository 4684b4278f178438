"""Measurements that are left out at the wrong end of their list: ``pairs[:100]``, with slow first calls among them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TAKES = {"record", "perf_counter", "perf_counter_ns", "monotonic", "time", "elapsed_time"}
ORDERED = {
    "sort",
    "sorted",
    "reverse",
    "reversed",
    "insert",
    "appendleft",
}  # another order than that of the calls


def first_ones(
    functions: Sequence[ast.FunctionDef], slow: int, shown: Callable[[ast.AST], str]
) -> Iterator[Fact]:
    """Slices of the measurements that keep some of the first ``slow``."""
    if any(_names(function) & ORDERED for function in functions):
        return
    measured = _measured(functions)
    for node in (n for function in functions for n in ast.walk(function) if isinstance(n, ast.Subscript)):
        value, part = node.value, node.slice
        if not isinstance(part, ast.Slice) or not _of(value, measured) or part.step is not None:
            continue
        lower, upper = part.lower, part.upper
        begin = 0 if lower is None else _whole(lower)
        drops = isinstance(node.ctx, ast.Del)
        if drops and upper is None and lower is not None:
            does = "takes the last ones away"
        elif drops or begin is None or not 0 <= begin < slow or (upper is None and not begin):
            continue
        elif begin:
            does = f"leaves out the first {begin} alone"
        else:
            does = "keeps the first ones and leaves out the last"
        code = shown(node)
        cause = (
            f"The first {slow} calls of this kernel were slow, as first calls are, and `{code}` {does}: slow calls "
            "are among those that are counted."
        )
        right = f"{shown(value)}[{slow}:]"
        fix = f"Leave out the first {slow}, not others: `{right}`."
        yield Fact(
            "left-out-at-the-end",
            node.lineno,
            cause,
            f"Write `del {shown(value)}[:{slow}]`." if drops else fix,
        )


def _measured(functions: Sequence[ast.FunctionDef]) -> set[str]:
    """Names of lists with an entry for each call that was timed."""
    found: set[str] = set()
    for function in functions:
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.For | ast.While)):
            if _names(loop) & TAKES:
                found |= {
                    n.func.value.id for n in ast.walk(loop)
                    if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
                    and n.func.attr == "append" and isinstance(n.func.value, ast.Name)
                }  # fmt: skip
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _of(node.value, found):
                found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
            called = next(
                (f for f in functions if isinstance(call.func, ast.Name) and f.name == call.func.id), None
            )
            for one, parameter in zip(call.args, called.args.args if called else (), strict=False):
                found |= {parameter.arg} if _of(one, found) else set()
    return found


def _of(value: ast.expr, measured: set[str]) -> bool:
    """Whether it is one of these lists, or has an entry for each of theirs."""
    match value:
        case ast.Name(id=name):
            return name in measured
        case ast.ListComp(generators=[ast.comprehension(iter=inner, ifs=[])]):
            return _of(inner, measured)
    return False


def _whole(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _names(node: ast.AST) -> set[str]:
    """The names that are used in it, those of attributes as well."""
    every = list(ast.walk(node))
    return {n.id for n in every if isinstance(n, ast.Name)} | {
        n.attr for n in every if isinstance(n, ast.Attribute)
    }
