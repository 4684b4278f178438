"""Which operator comes first in a line that lacks a pair of brackets: ``n + size - 1 // size``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

COMMENT = re.compile(r"(?<=[;{}])\s*//.*$")  # of C++
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
BINDS = ((ast.Pow,), (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod), (ast.Add, ast.Sub), (ast.LShift, ast.RShift))
# In C++ and in Python these four come in the same order; `/` and `//` have the same rank.


def first(before: str, after: str) -> tuple[str, str] | None:
    """Why ``before`` is not ``after``, and what to write, if they differ in round brackets alone.

    Both are statements of one line, in Python or C++.
    """
    if _bare(before) != _bare(after) or before.count("(") >= after.count("("):
        return None
    ours, right = _value(before), _value(after)
    if ours is None or right is None:
        return None
    groups = {_spelled(n) for n in ast.walk(right) if isinstance(n, ast.BinOp)}
    for outer in (n for n in ast.walk(ours) if isinstance(n, ast.BinOp)):
        for inner in (outer.left, outer.right):
            if (
                not isinstance(inner, ast.BinOp)
                or _spelled(inner) in groups
                or _rank(inner.op) >= _rank(outer.op)
            ):
                continue
            one, other = SIGNS[type(inner.op)], SIGNS[type(outer.op)]
            sides = [
                f"({ast.unparse(side)})" if side is inner else ast.unparse(side)
                for side in (outer.left, outer.right)
            ]
            cause = f"`{one}` is carried out before `{other}`, so without brackets this is `{sides[0]} {other} {sides[1]}`."
            return cause, f"Write `{COMMENT.sub('', after)}`."
    return None


def _bare(code: str) -> str:
    return re.sub(r"[\s()]", "", COMMENT.sub("", code.strip()))


def _rank(sign: ast.operator) -> int:
    return next((k for k, some in enumerate(BINDS) if isinstance(sign, some)), len(BINDS))


def _spelled(node: ast.expr) -> str:
    return _bare(ast.unparse(node))


def _value(statement: str) -> ast.expr | None:
    """The value that a statement of Python or C++ gives; None if it is none that both read alike."""
    code = re.sub(r";\s*(?://.*)?$", "", statement.strip())
    code = re.sub(r"\bstatic_cast\s*<[^<>]*>|(?<=[\d.])[fF]\b", "", code)
    found = re.fullmatch(r"(?:return\b|[^=!<>]*[^=!<>+*/-]=(?!=))\s*(?P<value>.+)", code)
    try:
        return python_text.parse((found["value"] if found else code).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _one_divided(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``n + size - 1 // size`` and, in C++, ``n + threads - 1 / threads``: 1 is divided, and nothing else."""
    about = (
        {
            n
            for n in text.nodes
            if isinstance(n, ast.FunctionDef) and re.search(rf"\b{n.name}\(", finding.message)
        }
        if text.tree
        else set()
    )
    for node in (n for function in about for n in ast.walk(function)):
        match node:
            case ast.BinOp(
                op=ast.Sub(),
                left=more,
                right=ast.BinOp(op=ast.FloorDiv(), left=ast.Constant(value=1), right=size),
            ):
                n, by = ast.unparse(more), ast.unparse(size)
                right = f"({n} - 1) // {by}"
                cause = f"`//` is carried out before `+` and `-`: `{ast.unparse(node)}` divides 1 alone, and 1 // {by} is 0 for any {by} above 1."
                yield Fact(
                    "one-divided",
                    node.lineno,
                    cause,
                    f"Put brackets around what is to be divided: `{right}`.",
                )
            case ast.BinOp(op=ast.RShift(), left=more, right=by):
                code, a, b = ast.unparse(node), ast.unparse(more), ast.unparse(by)
                cause = f"`>>` moves bits: `{code}` is `{a}` divided by 2 to the power of {b}, not by {b}."
                divided = ast.unparse(ast.BinOp(more, ast.FloorDiv(), by))
                yield Fact("shift-for-division", node.lineno, cause, f"To divide, write `{divided}`.")
    for host in text.host:
        form = r"(?<![\w.)])(?P<n>[\w.]+(?:\(\))?\s*\+\s*(?P<d>[\w.]+))\s*-\s*1\s*/\s*(?P=d)(?![\w.])"
        for match in re.finditer(form, host.body):
            n, d, code = match["n"], match["d"], " ".join(match[0].split())
            cause = f"`/` is carried out before `+` and `-`: `{code}` divides 1 alone, and 1 / {d} is 0 for any whole {d} above 1."
            yield Fact("one-divided", text.line(host.start + match.start()), cause,
                       f"Put brackets around what is to be divided: `({n} - 1) / {d}`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_one_divided, WRONG | OUTSIDE | {Status.WRONG_ANSWER, Status.RAISED, Status.TIMEOUT}),
)
