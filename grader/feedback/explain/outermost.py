"""What a statement computes, by its outermost operation: for a line that is wrong in more than a slip."""

from __future__ import annotations

import ast
import re

from grader.domain import python_text

DOES = {ast.Add: "adds", ast.Sub: "subtracts", ast.Mult: "multiplies", ast.Div: "divides", ast.FloorDiv: "divides",
        ast.Mod: "takes a remainder", ast.Pow: "takes a power", ast.MatMult: "multiplies matrices"}  # fmt: skip
SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
}
SUFFIX = re.compile(r"(?<=[\d.])[fF]\b")  # of a float in C++
LONGEST = 60  # characters of an operand that is quoted


def compared(before: str, after: str) -> str:
    """What the statement ``before`` does last of all, and that a right one ends otherwise, where ``after`` does."""
    ours, right = _value(before), _value(after)
    if ours is None:
        return ""
    said = _said(ours)
    last = _last(right)
    if said and _last(ours) and last and last != _last(ours):
        said += f" A line with which the check passes {last} last of all."
    return said


def _value(statement: str) -> ast.expr | None:
    """The value of a statement in Python or C++; None if it has none that both read alike."""
    code = re.sub(r"\s//.*$", "", statement).strip().rstrip(";")
    found = re.fullmatch(r"(?:return\b|[^=!<>()]*[^=!<>()+*/-]=(?!=))\s*(?P<value>[^;=]+(?:\([^;]*)?)", code)
    try:
        return python_text.parse(SUFFIX.sub("", found["value"]).strip(), mode="eval").body if found else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def _last(node: ast.expr | None) -> str:
    """What the operation does that is carried out last; "" if it is none of arithmetic."""
    return DOES.get(type(node.op), "") if isinstance(node, ast.BinOp) else ""


def _said(node: ast.expr) -> str:
    match node:
        case ast.BinOp() if does := _last(node):
            left, right = _quoted(node.left), _quoted(node.right)
            return f"Last of all it {does}: {left} {SIGNS[type(node.op)]} {right}."
        case ast.Tuple(elts=[_, _, *_] as parts):
            listed = [_quoted(one) for one in parts]
            return f"It gives {len(parts)} values, {', '.join(listed[:-1])} and {listed[-1]}."
        case ast.Call(args=[_, *_] as given):
            return f"Last of all it calls {_quoted(node.func)} with {', '.join(map(_quoted, given))}."
        case ast.Subscript():
            return f"It takes the element {_quoted(node.slice)} of {_quoted(node.value)}."
    return ""


def _quoted(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"`{text}`" if len(text) <= LONGEST else f"`{text[: LONGEST - 4]} ...`"
