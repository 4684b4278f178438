"""Quotients that were to be rounded up and are not: ``round(n / size + 0.5)``, ``(n - size + 1) / size``; see ``facts.py``."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText, operation
from grader.feedback.explain.whole_division import grids, number_of, rounded_up_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.domain.verdict import Finding

ROUND = {
    "round": "goes to the nearest whole number",
    "int": "drops what stands behind the point",
    "math.floor": "rounds down",
    "floor": "rounds down",
    "math.trunc": "drops what stands behind the point",
}
CALLED: dict[str, Callable[[float], int]] = {
    "round": round,
    "int": int,
    "math.floor": math.floor,
    "floor": math.floor,
    "math.trunc": math.trunc,
}
MOST_NODES = 40
ANY_WIDTH = 16  # stands for a block whose width the file does not tell
WORD = r"[A-Za-z_][\w.]*(?:\(\w*\))?"
QUOTIENT = re.compile(
    rf"\(\s*(?P<sum>(?:{WORD}|\d+)(?:\s*[-+]\s*(?:{WORD}|\d+)){{1,3}})\s*\)\s*//?\s*(?P<d>{WORD}|\d+)(?![\w.(])"
    r"(?P<more>\s*[-+]\s*1\b(?!\s*[*/.]))?"
)


def _number(node: ast.expr, known: Mapping[str, float]) -> float:
    """The value of an expression of sums, quotients and roundings. Raises ValueError where it holds anything else."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_number(inner, known)
        case ast.BinOp(left=left, op=sign, right=right):
            a, b = _number(left, known), _number(right, known)
            match sign:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div() if b:
                    return a / b
                case ast.FloorDiv() if b:
                    return a // b
        case ast.Call(func=called, args=[inner], keywords=[]) if ast.unparse(called) in CALLED:
            return float(CALLED[ast.unparse(called)](_number(inner, known)))
    raise ValueError


def _rounded(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``round(n / size + 0.5)``, ``int(n / size + 0.999)``: what they make of the numbers that were asked."""
    args = finding.evidence.get("args")
    functions = text.python_functions
    for function in functions:
        names = [one.arg for one in function.args.args]
        asked = re.search(rf"\b{function.name}\(", finding.message)
        if not asked or not isinstance(args, list) or len(args) != len(names):
            continue
        known = {n: a for n, a in zip(names, args, strict=True) if isinstance(a, int) and a < 2**53}
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or len(node.args) != 1 or ast.unparse(node.func) not in ROUND:
                continue
            inner, name = node.args[0], ast.unparse(node.func)
            quotient = next((q for q in ast.walk(inner) if _quotient(q)), None)
            if not isinstance(quotient, ast.BinOp) or sum(1 for _ in ast.walk(inner)) > MOST_NODES:
                continue
            try:
                value = _number(inner, known)
                right = math.ceil(_number(quotient, known))
                made = CALLED[name](value)
            except (ValueError, OverflowError):
                continue
            if made == right:
                continue
            code, given = ast.unparse(inner), " and ".join(f"{n} = {a}" for n, a in known.items())
            middle = ", and from the middle between two to the even one" if value % 1 == 0.5 else ""
            cause = (
                f"`{name}` {ROUND[name] if name != 'round' else ROUND[name] + middle}: for {given} `{code}` is "
                f"{value:.10g}, and {name} makes {made} of it, where {right} {'is' if right == 1 else 'are'} needed."
            )
            if value % 1 == 0:  # the rounding is not to blame
                over = "also where nothing is left over" if made > right else "also of what is left over"
                does = "counts more" if made > right else "takes something away,"
                cause = f"For {given} `{code}` is {made}, where {right} {'is' if right == 1 else 'are'} needed: it {does} {over}."
            yield Fact(
                "not-a-ceiling", node.lineno, cause, f"Round up: `{rounded_up_whole(text, quotient)}`."
            )
            return


def _quotient(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div | ast.FloorDiv)
        and isinstance(node.left, ast.Name | ast.Attribute)
    )


class _Sum:
    """A sum over a divisor: what it counts, what that is divided by, and what comes out for so many."""

    def __init__(self, match: re.Match[str]) -> None:
        terms = re.findall(rf"(?P<s>^|[-+])\s*({WORD}|\d+)", match["sum"].strip())
        self.d = match["d"]
        self.more = int(re.sub(r"\s", "", match["more"] or "0"))
        self.signs = [(-1 if sign == "-" else 1, term) for sign, term in terms]
        others = [term for _, term in self.signs if term != self.d and not term.isdigit()]
        self.n = others[0] if len(others) == 1 and others[0] == self.signs[0][1] else ""
        self.beside = any(term == self.d for _, term in self.signs)  # the divisor is a part of the sum

    def count(self, n: int, d: int) -> int:
        """What it is for ``n`` elements and a block of ``d``; -1 where the sum is negative."""
        known = {self.n: n, self.d: d}
        whole = sum(sign * (known[t] if t in known else int(t)) for sign, t in self.signs)
        return whole // d + self.more if whole >= 0 else -1

    def too_few(self, d: int) -> int:
        """A number of elements for which it is too small; 0 if there is none."""
        counts = ((n, self.count(n, d)) for n in range(1, 3 * d + 1))
        return next((n for n, made in counts if 0 <= made < -(-n // d)), 0)

    def ceiling(self, d: int) -> bool:
        """Whether it rounds up."""
        return all(self.count(n, d) == -(-n // d) for n in range(1, 3 * d + 1))


def no_ceiling(code: str) -> bool:
    """Whether a line has a quotient like ``(n + d + 1) / d``, which is neither rounded up nor anything else."""
    for match in QUOTIENT.finditer(code):
        one = _Sum(match)
        width = int(one.d) if one.d.isdigit() else ANY_WIDTH
        if one.n and one.beside and 1 < width <= 4096 and not one.ceiling(width):
            return True
    return False


def _grid(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``dim3 grid((cols - block.x + 1) / block.x, ...)`` where blocks were missing."""
    if not re.search(r"never written|configuration|invalid argument", finding.message):
        return
    for start, value, _ in grids(text):
        for match in QUOTIENT.finditer(value):
            one = _Sum(match)
            d = number_of(text, one.d) or ANY_WIDTH
            few = one.too_few(d) if one.n and 1 < d <= 4096 else 0
            if not few:
                continue
            code, made = " ".join(match[0].split()), one.count(few, d)
            needed = -(-few // d)
            cause = (
                f"`{code}` does not round up: for {one.n} = {few} and {one.d} = {d} it is {made}, and "
                f"{needed} {'block is' if needed == 1 else 'blocks are'} needed."
                if not one.d.isdigit()
                else f"`{code}` does not round up: for {one.n} = {few} it is {made}, and {needed} "
                f"{'block is' if needed == 1 else 'blocks are'} needed."
            )
            yield Fact("not-a-ceiling", text.line(start + match.start()), cause,
                       f"Write `({one.n} + {one.d} - 1) / {one.d}`.")  # fmt: skip
            return


def _sum_in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``(n - size + 1) // size`` in the function that gave a wrong number."""
    line = re.match(r"Line (\d+): (\w+)\((\d+), (\d+)\) is (-?\d+), expected (\d+)", finding.message)
    code = text.source.splitlines()[int(line[1]) - 1] if line and text.tree else ""
    for match in QUOTIENT.finditer(code):
        one = _Sum(match)
        alone = re.fullmatch(rf"\s*return\s+{re.escape(match[0])}\s*(?:#.*)?", code)
        if line is None or alone is None or not one.n or one.ceiling(ANY_WIDTH):
            continue
        n, d = python_text.parse(one.n, mode="eval").body, python_text.parse(one.d, mode="eval").body
        more = ast.BinOp(ast.BinOp(n, ast.Add(), d), ast.Sub(), ast.Constant(1))
        few = int(line[5]) < int(line[6])
        cause = (
            f"`{' '.join(match[0].split())}` does not round up: for {line[3]} elements and {line[4]} in a block it is "
            f"{line[5]}, {'which is too few' if few else 'which is too many'}."
        )
        yield Fact("not-a-ceiling", int(line[1]), cause, f"Write `{operation(more, ast.FloorDiv(), d)}`.")
        return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_rounded, frozenset({Status.WRONG_ANSWER})),
    (_sum_in_python, frozenset({Status.WRONG_ANSWER})),
    (_grid, WRONG | {Status.RAISED, Status.CUDA_ERROR}),
)
