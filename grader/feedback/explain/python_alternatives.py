"""Alternatives of a file's Python: small changes of its functions, each of which can be tried.

What :mod:`grader.feedback.explain.alternatives` does for the C++ in a file's strings, this does for the Python around it.
Nothing is built for a trial here, so each is a file of its own. The changes are the usual mutation operators (Jia and
Harman, An Analysis and Survey of the Development of Mutation Testing, 2011), turned round: they fix.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.feedback.explain.alternatives import Alternative, ranked
from grader.feedback.explain.changes import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAMES = 6
RELATIONS = {
    ast.Lt: ("<=", ">", ">="), ast.LtE: ("<", ">="), ast.Gt: (">=", "<"), ast.GtE: (">", "<"), ast.Eq: ("!=",),
    ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ("-", "*"), ast.Sub: ("+",), ast.Mult: ("/", "+", "**", "@"), ast.Div: ("//", "*"),
    ast.FloorDiv: ("/", "%"), ast.Mod: ("//",), ast.Pow: ("*",), ast.MatMult: ("*",),
}  # fmt: skip
AROUND = {
    "abs",
    "fabs",
    "sqrt",
    "floor",
    "ceil",
    "round",
    "int",
    "float",
    "sum",
    "max",
    "min",
    "len",
    "sorted",
    "set",
}
OPERATOR = re.compile(r"[^()\s#][^()\s#]*(?:\s+(?:not|in))?")
# The kinds of changes, those that are most often the mistake first.
ORDER = (
    "relation",
    "operator",
    "call",
    "elif",
    "name",
    "number",
    "swap",
    "indent",
    "drop",
    "assign",
    "order",
)
Scope = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _File:
    """A file's text by lines, to find where a node of its tree stands."""

    source: str
    starts: tuple[int, ...]
    lines: tuple[str, ...]

    def at(self, line: int, column: int) -> int:
        """The character at a line (from 1) and a column in bytes, as the tree counts them."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        first, last = self.span(node)
        return self.source[first:last]

    def change(self, kind: str, first: int, last: int, now: str, line: int) -> Change:
        was = " ".join(self.source[first:last].split())
        return Change(((first, last, now),), line, kind, was, " ".join(now.split()), 1)


def alternatives(source: str, lines: set[int]) -> list[Alternative]:
    """All alternatives of the file's functions, those of functions with one of ``lines`` first, the usual ones first."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    texts = source.splitlines(keepends=True) or [""]
    starts = accumulate(map(len, texts), initial=0)
    file = _File(source, tuple(starts), tuple(texts))
    found: list[tuple[tuple[str, Change], ast.stmt]] = [
        (one, node) for node in _outer(tree) for one in _of(file, node) if _another(source, one[1])
    ]
    # What a file does at its top is mostly the exercise's own; the order of names there may not be.
    top = [n for n in tree.body if isinstance(n, ast.Assign)]
    found += [(one, node) for node in top for one in _statement(file, node) if one[0] == "swap"]
    made = [
        Alternative(number, kind, change, (node.lineno, node.end_lineno or node.lineno))
        for number, ((kind, change), node) in enumerate(found)
    ]
    return ranked(made, lines, ORDER)


def _another(source: str, change: Change) -> bool:
    """Whether it makes another file of Python."""
    text = change.apply(source)
    try:
        python_text.parse(text)
    except SyntaxError:
        return False
    return text != source


def _outer(tree: ast.Module) -> Iterator[Scope]:
    """The functions at the top of a file, and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, Scope):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (n for n in node.body if isinstance(n, Scope))


def _of(file: _File, function: Scope) -> Iterator[tuple[str, Change]]:
    """The changes of one function."""
    names = {
        a.arg for n in ast.walk(function) if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs)
    }
    names |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own = {
        n.attr for n in ast.walk(function)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
    }  # fmt: skip
    called = {id(n.func) for n in ast.walk(function) if isinstance(n, ast.Call)}
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr):
                yield from _expression(file, node, sorted(names - {"self"}), sorted(own), called)
            elif isinstance(node, ast.stmt):
                yield from _statement(file, node)
    yield from _blocks(file, function)


def _between(file: _File, left: ast.expr, right: ast.expr) -> tuple[int, int] | None:
    """Where the operator between two expressions stands; brackets may stand beside it."""
    begin, end = file.span(left)[1], file.span(right)[0]
    found = OPERATOR.search(file.source, begin, end)
    return (found.start(), found.end()) if found else None


def _expression(  # noqa: C901 - a case a kind of expression
    file: _File, node: ast.expr, names: list[str], own: list[str], called: set[int]
) -> Iterator[tuple[str, Change]]:
    first, last = file.span(node)
    line = node.lineno
    match node:
        case ast.Compare(ops=[op]) if place := _between(file, node.left, node.comparators[0]):
            for sign in RELATIONS.get(type(op), ()):
                yield "relation", file.change("replace", *place, sign, line)
        case ast.BinOp() if place := _between(file, node.left, node.right):
            for sign in ARITHMETIC.get(type(node.op), ()):
                yield "operator", file.change("replace", *place, sign, line)
            if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv):
                sign = file.source[slice(*place)]
                now = f"{file.text(node.right)} {sign} {file.text(node.left)}"
                yield "swap", file.change("replace", first, last, now, line)
            for part in (node.left, node.right):
                yield "drop", file.change("replace", first, last, file.text(part), line)
            yield from _brackets_moved(file, node, file.source[slice(*place)])
        case ast.BoolOp():
            sign = "or" if isinstance(node.op, ast.And) else "and"
            for one, other in pairwise(node.values):
                if place := _between(file, one, other):
                    yield "relation", file.change("replace", *place, sign, line)
        case ast.UnaryOp():
            yield "drop", file.change("replace", first, last, file.text(node.operand), line)
        case ast.Constant(value=bool() as value):
            yield "number", file.change("replace", first, last, str(not value), line)
        case ast.Constant(value=int() as value):
            for number in (value + 1, value - 1):
                yield "number", file.change("replace", first, last, str(number), line)
        case ast.Constant(value=float() as value) if value:
            for power in ("1e3", "1e-3", "1e6", "1e-6", "1e9", "1e-9"):
                if value != float(power):
                    yield "number", file.change("replace", first, last, power, line)
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            for other_name in [n for n in names if n != name][:MAX_NAMES]:
                yield "name", file.change("replace", first, last, other_name, line)
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute, ctx=ast.Load()):
            for other_name in [n for n in own if n != attribute][:MAX_NAMES]:
                yield "name", file.change("replace", first, last, f"self.{other_name}", line)
        case ast.Subscript() if not isinstance(node.slice, ast.Slice | ast.Tuple | ast.Constant):
            place = file.span(node.slice)
            for step in ("+ 1", "- 1"):
                yield "number", file.change("replace", *place, f"{file.text(node.slice)} {step}", line)
        case ast.Call():
            yield from _call(file, node)
    if (
        isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and id(node) not in called
    ):
        yield "call", file.change("insert", last, last, "()", line)


def _call(file: _File, node: ast.Call) -> Iterator[tuple[str, Change]]:
    first, last = file.span(node)
    if not node.args and not node.keywords:
        yield "call", file.change("replace", first, last, file.text(node.func), node.lineno)
    if isinstance(node.func, ast.Attribute) and not node.args:  # x.t() -> x
        yield "drop", file.change("replace", first, last, file.text(node.func.value), node.lineno)
    if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 1:
        for step in ("+ 1", "- 1"):
            place = file.span(node.args[0])
            yield "number", file.change("replace", *place, f"{file.text(node.args[0])} {step}", node.lineno)
    if len(node.args) == 1 and not node.keywords:
        yield from _of_one(file, node, node.args[0])
    if ast.unparse(node.func) in ("max", "min") and len(node.args) == 2:
        for one, other in (node.args, node.args[::-1]):
            if isinstance(other, ast.Constant):
                yield "drop", file.change("replace", first, last, file.text(one), node.lineno)
    for one, other in pairwise(node.args):
        begin, end = file.span(one)[0], file.span(other)[1]
        now = f"{file.text(other)}, {file.text(one)}"
        yield "swap", file.change("replace", begin, end, now, one.lineno)
    for word in node.keywords:
        begin, end = file.span(word)
        comma = re.search(r",\s*$", file.source[:begin])
        if word.arg and comma:
            yield "drop", file.change("delete", comma.start(), end, "", word.lineno)


def _of_one(file: _File, node: ast.Call, given: ast.expr) -> Iterator[tuple[str, Change]]:
    """``abs(a - b)`` as ``a - b``, and ``f(a - b)`` as ``f(a) - b``."""
    first, last = file.span(node)
    if ast.unparse(node.func).rpartition(".")[2] in AROUND:
        alone = (
            file.text(given)
            if isinstance(given, ast.Name | ast.Call | ast.Subscript)
            else f"({file.text(given)})"
        )
        yield "drop", file.change("replace", first, last, alone, node.lineno)
    place = _between(file, given.left, given.right) if isinstance(given, ast.BinOp) else None
    if isinstance(given, ast.BinOp) and place:
        a, sign, b = file.text(given.left), file.source[slice(*place)], file.text(given.right)
        now = f"{file.text(node.func)}({a}) {sign} {b}"
        yield "operator", file.change("replace", first, last, now, node.lineno)


def _brackets_moved(file: _File, node: ast.BinOp, sign: str) -> Iterator[tuple[str, Change]]:
    """``a / (b + c)`` as ``a / b + c``, ``(b + c) / a`` as ``b + c / a``, and ``f(a) + b`` as ``f(a + b)``."""
    first, last = file.span(node)
    text, left, right = file.source[first:last], file.text(node.left), file.text(node.right)
    for inner, other in ((node.right, left), (node.left, right)):
        place = _between(file, inner.left, inner.right) if isinstance(inner, ast.BinOp) else None
        if isinstance(inner, ast.BinOp) and place and text.startswith("(" if inner is node.left else left):
            b, how, c = file.text(inner.left), file.source[slice(*place)], file.text(inner.right)
            now = f"{other} {sign} {b} {how} {c}" if inner is node.right else f"{b} {how} {c} {sign} {other}"
            if ast.dump(python_text.parse(now, mode="eval").body) != ast.dump(
                python_text.parse(text, mode="eval").body
            ):
                yield "operator", file.change("replace", first, last, now, node.lineno)
    if isinstance(node.left, ast.Call) and len(node.left.args) == 1 and not node.left.keywords:
        now = f"{file.text(node.left.func)}({file.text(node.left.args[0])} {sign} {right})"
        yield "operator", file.change("replace", first, last, now, node.lineno)


def _statement(file: _File, node: ast.stmt) -> Iterator[tuple[str, Change]]:
    first, last = file.span(node)
    match node:
        case ast.If(orelse=[ast.If() as second]) if file.source.startswith("elif", file.span(second)[0]):
            begin = file.span(second)[0]
            yield "elif", file.change("replace", begin, begin + 4, "if", second.lineno)
        case ast.Expr(value=ast.Call()) | ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Assert():
            yield "drop", file.change("drop line", first, last, "pass", node.lineno)
    if isinstance(node, ast.AugAssign) and (place := _between_target(file, node)):
        for sign in {"+=", "-=", "=", "*="} - {file.source[slice(*place)]}:
            yield "assign", file.change("replace", *place, sign, node.lineno)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        begin, end = file.span(node.targets[0])[1], file.span(node.value)[0]
        sign_at = file.source.find("=", begin, end)
        if sign_at >= 0:
            yield "assign", file.change("replace", sign_at, sign_at + 1, "+=", node.lineno)
        if isinstance(node.targets[0], ast.Tuple):
            for one, other in pairwise(node.targets[0].elts):
                place = file.span(one)[0], file.span(other)[1]
                now = f"{file.text(other)}, {file.text(one)}"
                yield "swap", file.change("replace", *place, now, node.lineno)
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Compare)
        and isinstance(node.value.ops[0], ast.Eq)
        and (place := _between(file, node.value.left, node.value.comparators[0]))
    ):
        yield "relation", file.change("replace", *place, "=", node.lineno)


def _between_target(file: _File, node: ast.AugAssign) -> tuple[int, int] | None:
    begin, end = file.span(node.target)[1], file.span(node.value)[0]
    found = re.compile(r"\S+").search(file.source, begin, end)
    return (found.start(), found.end()) if found else None


def _blocks(file: _File, function: Scope) -> Iterator[tuple[str, Change]]:
    """Statements in the wrong block, or in the wrong order."""
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
                continue
            for one, other in pairwise(block):
                if not _whole_lines(file, one) or not _whole_lines(file, other):
                    continue
                first, last = file.span(one)[0], file.span(other)[1]
                between = file.source[file.span(one)[1] : file.span(other)[0]]
                now = f"{file.text(other)}{between}{file.text(one)}"
                if last - first < 400 and not isinstance(other, Scope):
                    yield "order", Change(((first, last, now),), one.lineno, "move", "", "", 1, other.lineno)
                inner = getattr(one, "body", None)
                if isinstance(inner, list) and isinstance(
                    other, ast.Return | ast.Assign | ast.Expr | ast.AugAssign
                ):
                    yield from _moved(file, other, inner[-1].col_offset)
            if (
                node is not function
                and len(block) > 1
                and isinstance(node, ast.stmt)
                and _whole_lines(file, block[-1])
            ):
                yield from _moved(file, block[-1], node.col_offset)


def _moved(file: _File, node: ast.stmt, column: int) -> Iterator[tuple[str, Change]]:
    """The statement indented as far as ``column``."""
    if column == node.col_offset or not _whole_lines(file, node):
        return
    first, last = file.starts[node.lineno - 1], file.span(node)[1]
    step = column - node.col_offset
    lines = file.source[first:last].split("\n")
    moved = "\n".join(" " * step + line if step > 0 else line[-step:] for line in lines)
    was = " ".join(file.text(node).split())
    yield "indent", Change(((first, last, moved),), node.lineno, "indent", was, was, 1, column)


def _whole_lines(file: _File, node: ast.stmt) -> bool:
    """Whether it begins a line and is no part of a line of several statements; ``elif`` begins none."""
    text = file.lines[node.lineno - 1]
    return not text[: node.col_offset].strip() and not text[node.col_offset :].startswith("elif")
