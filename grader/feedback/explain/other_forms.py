"""What is wrong in a formula of another form than the right one: the one change that gives it the right values.

The right file writes the sigmoid by `expf`, the student by `tanhf`: their statements have hardly a word in common,
and the mistake may be a factor. The two are computed for some numbers, and so is the student's with each small
change; what is said is tried on the checks as well.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from grader.domain import python_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST = 200  # characters of a statement
DEEPEST = 40
POINTS, FEWEST = 16, 5
EQUAL = 1e-6  # constants have as many digits as float32
HEAD = re.compile(r"(?P<head>[^=;{}]*?(?:\breturn\b|(?<![=!<>+\-*/%])=(?!=)))(?P<value>[^;{}=]*);?")
COMMENT = re.compile(r"\s*(?://|#).*$")
SUFFIX = re.compile(r"(?<=[\d.])[fF]\b")
BLANKED = re.compile(r"\bstatic_cast\s*<[^<>]*>|\bstd::|\(\s*(?:float|double)\s*\)(?=\s*[\w(])")
FLOATS = re.compile(r"\d\.|\d[fF]\b|\.\d")
FACTORS = (-1.0, 0.5, 2.0, -0.5, -2.0)
FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp, "tanh": math.tanh, "log": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos,
    "erf": math.erf, "fabs": abs, "abs": abs, "pow": math.pow, "fmax": max, "fmin": min, "max": max, "min": min,
    "exp2": lambda v: 2.0**v, "log2": math.log2, "log1p": math.log1p, "expm1": math.expm1,
    "rsqrt": lambda v: 1 / math.sqrt(v), "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
}  # fmt: skip
SIGNS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a**b,
}  # fmt: skip
WRITTEN = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
Change = dict[
    ast.AST, "float | str | type[ast.operator]"
]  # a part's factor, its other name, or its other sign


class Mended(NamedTuple):
    """The line with the one change in it, and cause and fix as sentences."""

    line: str
    cause: str
    fix: str


@dataclass(frozen=True, slots=True)
class _Formula:
    """The right side of a line: where it begins, its text, and what that is to compute."""

    head: str
    text: str
    tree: ast.expr
    cpp: bool

    def text_of(self, node: ast.expr) -> str:
        """A part's own text."""
        end = (node.end_col_offset or 0) - 1
        end += self.text[end - 1 : end].isdigit() | (self.text[end - 1 : end] == ".") and self.text[
            end : end + 1
        ] in ("f", "F")
        return self.text[node.col_offset - 1 : end]


def mended(before: str, after: str) -> Mended | None:
    """How the line ``before`` gets the values of ``after`` in its own form; None if no one change does that."""
    ours, right = _formula(before), _formula(after)
    if ours is None or right is None or ours.head != right.head or ours.text == right.text:
        return None
    points = [point for point in _points(ours, right) if _at(right, point, {}) is not None]
    wanted = [_at(right, point, {}) for point in points]
    if len(points) < FEWEST or _same(ours, points, wanted, {}):
        return None  # the same values in another form: it is something else
    nodes = [n for n in ast.walk(ours.tree) if isinstance(n, ast.expr)]
    for node in nodes:
        if isinstance(node, ast.Call) and _function(node) and len(node.args) == 1:
            for factor in FACTORS:
                if _same(ours, points, wanted, {node.args[0]: factor}):
                    return _of_factor(before, ours, right, node, factor, points)
    for node, change, now, why in _changes(ours, right, nodes):
        if _same(ours, points, wanted, {node: change}):
            at, was = len(ours.head) + node.col_offset - 1, ours.text_of(node)
            line = f"{before[:at]}{now}{before[at + len(was) :]}"
            if _bare(line) == _bare(after):
                return None  # the search has found it, in these words
            return Mended(line, f"{why} in this formula: with `{now}` it gives the right values.",
                          f"Write `{COMMENT.sub('', line)}`.")  # fmt: skip
    return None


def _changes(
    ours: _Formula, right: _Formula, nodes: list[ast.expr]
) -> Iterator[tuple[ast.expr, float | str | type[ast.operator], str, str]]:
    """Small changes: the part, what becomes of it, its text then, and what is wrong with it as it is."""
    names = sorted({*_names(ours.tree), *_names(right.tree)})
    theirs = [n for n in ast.walk(right.tree) if isinstance(n, ast.expr)]
    numbers = {value: right.text_of(n) for n in theirs if (value := _number(n))}
    called = {_function(n): right.text_of(n.func) for n in theirs if isinstance(n, ast.Call) and _function(n)}
    for node in nodes:
        was, value = ours.text_of(node), _number(node)
        if isinstance(node, ast.BinOp) and type(node.op) in WRITTEN:
            left, sign, other = ours.text_of(node.left), WRITTEN[type(node.op)], ours.text_of(node.right)
            # Brackets, and operators of another rank, would make another formula of it.
            alone = was.removeprefix(left).removesuffix(other).strip() == sign
            for new, written in WRITTEN.items() if alone else ():
                if new is not type(node.op) and _rank(new) == _rank(type(node.op)):
                    yield node, new, f"{left} {written} {other}", f"`{sign}` in `{was}` is the wrong sign"
        elif value:
            ending = "f" if was.lower().endswith("f") else ""
            some = {2 * value, value / 2, -value, 1 / value, value - 1, value + 1} - {*numbers, 0, 1}
            told = numbers | {one: f"{one!r}{ending}" for one in sorted(some)}
            yield from ((node, one / value, now, f"`{was}` is the wrong number") for one, now in told.items())
        elif ast.unparse(node) in names:
            others = (name for name in names if name != ast.unparse(node))
            yield from ((node, name, name, f"`{was}` is not what belongs there") for name in others)
        elif isinstance(node, ast.Call) and (own := _function(node)):
            for name, written in called.items():
                if name != own and len(node.args) == 1:
                    now = f"{written}{was[len(ours.text_of(node.func)) :]}"
                    yield node, name, now, f"`{was}` is the wrong function"
    for node in nodes:
        if isinstance(node, ast.BinOp | ast.Call) and (isinstance(node, ast.BinOp) or _function(node)):
            was = ours.text_of(node)
            ending = "f" if ours.cpp else ""
            yield node, 0.5, f"(0.5{ending} * ({was}))", f"`{was}` is twice what it has to be"
            yield node, 2.0, f"(2.0{ending} * ({was}))", f"`{was}` is half of what it has to be"
            yield node, -1.0, f"(-({was}))", f"`{was}` has the wrong sign"


def _number(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bare(line: str) -> str:
    return re.sub(r"[\s;]", "", COMMENT.sub("", line))


def _rank(sign: type[ast.operator]) -> bool:
    return sign in (ast.Mult, ast.Div)


def _of_factor(
    before: str,
    ours: _Formula,
    right: _Formula,
    call: ast.Call,
    factor: float,
    points: list[dict[str, float]],
) -> Mended:
    """A function that gets a multiple of what it needs."""
    given, was = ours.text_of(call.args[0]), ours.text_of(call)
    inner = given if re.fullmatch(r"[\w.]+|[\w.]+\[\w+\]", given) else f"({given})"
    times = f"{abs(factor)!r}{'f' if ours.cpp else ''} * {inner}"
    argument = {-1.0: f"-{inner}", 1.0: given}.get(factor, f"-{times}" if factor < 0 else times)
    if factor == -1.0 and isinstance(call.args[0], ast.UnaryOp) and isinstance(call.args[0].op, ast.USub):
        argument = ours.text_of(call.args[0].operand)
    start = call.args[0].col_offset - call.col_offset
    now = f"{was[:start]}{argument}{was[start + len(given) :]}"
    at = len(ours.head) + call.col_offset - 1
    line = f"{before[:at]}{now}{before[at + len(was) :]}"
    half = {
        -1.0: "the negative of",
        0.5: "half of",
        2.0: "twice",
        -0.5: "the negative half of",
        -2.0: "minus twice",
    }
    needs = f"`{ours.text_of(call.func)}` must get {half[factor]} `{given}`."
    why = f"{needs} With that the formula gives the right values."
    for of, place in _sigmoids(right):
        for other, words in ((2.0, f"2 * {of}"), (0.5, f"{of} / 2"), (-1.0, f"-{of}"), (-2.0, f"-2 * {of}"), (-0.5, f"-{of} / 2")):  # fmt: skip
            if _same(ours, points, [_at(right, point, {place: other}) for point in points], {}):
                why = f"With `{was}` this line has the sigmoid of {words} in it, and asked for is that of {of}: {needs}"
    return Mended(line, why, f"Write `{now}`.")


def _sigmoids(right: _Formula) -> Iterator[tuple[str, ast.expr]]:
    """Of what the formula takes the sigmoid; and the part of it that is to be scaled for another input."""
    for node in ast.walk(right.tree):
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            continue
        (given,) = node.args
        if _function(node) == "sigmoid":
            yield right.text_of(given), given
        elif _function(node) == "exp" and isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub):
            plain = right.text_of(given.operand)
            if re.search(rf"/\s*\(\s*1(?:\.0*)?f?\s*\+\s*{re.escape(right.text_of(node))}\s*\)", right.text):
                yield plain, given


def _formula(line: str) -> _Formula | None:
    line = COMMENT.sub("", line)
    found = HEAD.fullmatch(line.rstrip()) if len(line) <= LONGEST and line.isascii() else None
    if found is None or found["head"].count("(") != found["head"].count(")"):
        return None
    if "/" in found["value"] and line.endswith(";") and not FLOATS.search(found["value"]):
        return None  # it may be of whole numbers
    blank = BLANKED.sub(lambda m: " " * len(m[0]), SUFFIX.sub(" ", found["value"]))
    try:
        tree = python_text.parse(f"({blank})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _Formula(found["head"], found["value"], tree, line.rstrip().endswith(";"))


def _function(node: ast.AST) -> str:
    """The known function that a call is of; "" for others."""
    if not isinstance(node, ast.Call) or node.keywords:
        return ""
    name = ast.unparse(node.func).removeprefix("torch.").removeprefix("math.").removeprefix("__")
    return next((one for one in (name, name.removesuffix("f")) if one in FUNCTIONS), "")


def _points(*formulas: _Formula) -> Iterator[dict[str, float]]:
    """Numbers for whatever the formulas are of."""
    names = {name for one in formulas for name in _names(one.tree)}
    for k in range(POINTS):
        yield {
            name: (-1) ** (k >> i % 3) * (0.3 + 1.7 * (0.618 * (k + 1) * (i + 1) % 1))
            for i, name in enumerate(sorted(names))
        }


def _names(tree: ast.expr) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp | ast.UnaryOp) or _function(node):
            waiting += node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
        elif isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            yield ast.unparse(node)


def _same(ours: _Formula, points: list[dict[str, float]], wanted: list[float | None], change: Change) -> bool:
    """Whether it has these values, with the change."""
    for point, right in zip(points, wanted, strict=True):
        value = _at(ours, point, change)
        if value is None or right is None or not math.isclose(value, right, rel_tol=EQUAL, abs_tol=EQUAL):
            return False
    return True


def _at(formula: _Formula, point: dict[str, float], change: Change) -> float | None:
    try:
        value = _value(formula.tree, point, change, DEEPEST)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError, RecursionError):
        return None
    return value if math.isfinite(value) else None


def _value(node: ast.AST, point: dict[str, float], change: Change, depth: int) -> float:
    if not depth:
        raise ValueError
    new = change.get(node, 1.0)
    if isinstance(new, str) and new not in FUNCTIONS:
        return point[new]
    factor = new if isinstance(new, float) else 1.0
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        left, right = (_value(one, point, change, depth - 1) for one in (node.left, node.right))
        return factor * SIGNS[new if isinstance(new, type) else type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _value(node.operand, point, change, depth - 1)
        return factor * (-inner if isinstance(node.op, ast.USub) else inner)
    if isinstance(node, ast.Call) and (name := _function(node)):
        return factor * FUNCTIONS[new if isinstance(new, str) else name](
            *(_value(one, point, change, depth - 1) for one in node.args)
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return factor * node.value
    if (name := ast.unparse(node)) not in point:
        raise ValueError
    return factor * point[name]
