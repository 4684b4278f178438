"""What a bracket that closes too late does: a term stands inside of it that is meant to stand behind it."""

from __future__ import annotations

import ast
import math
import random
import re
from typing import TYPE_CHECKING

from grader.domain import python_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TRIES = 8  # random values that two expressions must agree for
CLOSE = 1e-6
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "tanh": math.tanh,
    "abs": abs,
    "sqrt": lambda v: math.sqrt(abs(v)),
}


def moved(before: str, after: str) -> tuple[str, str] | None:
    """Why ``before`` is not ``after``, and what to write, if one bracket of it closes too late or too early.

    Both are statements that give a value: ``return a * (b + c);`` or ``v = a * (b + c);``. None where no single
    bracket makes them the same for any numbers.
    """
    ours, right = _expression(before), _expression(after)
    if not ours or not right or _bare(ours) == _bare(right):
        return None
    for written, cause in _candidates(ours):
        if _agree(written, right):
            plain = re.sub(r"(?<![\w>])\((\w+)\)", r"\1", written)  # a name alone needs no brackets
            return cause, f"Write `{plain}`."
    return None


def _expression(statement: str) -> str:
    """The value of a statement; "" if it is none."""
    code = re.sub(r"//.*", "", statement).strip()
    found = re.fullmatch(r"(?:return\b|[^=;]*[^=!<>;]=(?!=))\s*(?P<value>[^;]+);?", code)
    return found["value"].strip() if found else ""


def _candidates(code: str) -> Iterator[tuple[str, str]]:
    """The expression with one bracket in another place, and what is wrong with that place."""
    for opened, closed in _pairs(code):
        around = re.search(r"(?P<factor>[\w.\[\]]+)\s*(?P<sign>[*/])\s*$", code[:opened])
        reached = reaching(code, opened, closed)
        behind = (
            reached and reached[0] == opened
        )  # a factor that moving the bracket would leave with one term
        for at in () if behind else _terms(code, opened + 1, closed):
            term = code[at:closed].strip()
            written = f"{code[:at].rstrip()}){' ' if code[at - 1] == ' ' else ''}{term}{code[closed + 1 :]}"
            name = term.lstrip("+-").strip()
            does = "inside of the brackets"
            if quotient := _quotient(code, opened):
                does += f" and is multiplied by `{quotient}`, too"
            if around:
                does += f" and is {'multiplied by' if around['sign'] == '*' else 'a part of what divides'} {around['factor']}, too"
            yield written, f"In `{code}` {name} stands {does}: close the bracket before `{term}`."
    for opened, closed in _pairs(code):
        yield from _out_of_reach(code, opened, closed)
    for _opened, closed in _pairs(code):
        rest = re.match(r"\s*[-+]\s*(?:[\w.]+(?:\([^()]*\))?)", code[closed + 1 :])
        if rest:
            written = f"{code[:closed]}{rest[0]}){code[closed + 1 + rest.end() :]}"
            cause = f"In `{code}` the bracket closes too early: `{rest[0].strip()}` belongs into it."
            yield written, cause


def _out_of_reach(code: str, opened: int, closed: int) -> Iterator[tuple[str, str]]:
    """``(a + x) * b`` as ``a * b + x`` and as ``a + x * b``, and ``b * (a + x)`` as ``a + b * x``."""
    inner, starts = code[opened + 1 : closed], [at - opened - 1 for at in _terms(code, opened + 1, closed)]
    factor = reaching(code, opened, closed)
    if factor is None or not starts:
        return
    begin, end, words = factor
    before, behind = code[begin:opened], code[closed + 1 : end]
    last, first = min(starts[0], len(inner)), starts[-1]
    parts = [
        (inner[:last].strip(), inner[last:].strip(), False),
        (inner[:first].strip(), inner[first:].strip(), True),
    ]
    for head, tail, kept in parts:
        term, sign = (tail[1:].strip(), tail[0])
        within, free = (term, head) if kept else (head, term)
        put = f"{before}{_held(within)}{behind}"
        whole = f"{free} {sign} {put}" if kept else f"{put} {sign} {free}"
        cause = f"In `{code}` {words}, and so {free} as well: it is to stand outside of the brackets."
        yield f"{code[:begin]}{whole}{code[end:]}", cause


def reaching(code: str, opened: int, closed: int) -> tuple[int, int, str] | None:
    """Where the factor or divisor of a pair of brackets begins and ends with them, and what it does, in words."""
    name, nested = r"[\w.]+(?:\[[^][]*\])?", r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    if re.search(r"[/%]\s*$", code[:opened]):
        return None  # what stands behind is a factor of the whole quotient, not of the brackets
    if behind := re.match(rf"\s*(?P<sign>[*/])\s*(?P<a>{name}(?![\w.(\[])|\w*{nested})", code[closed + 1 :]):
        if re.search(r"[\w>]\s*$", code[:opened]) and not re.search(r"\breturn\s*$", code[:opened]):
            return None  # the brackets of a call
        does = "multiplies" if behind["sign"] == "*" else "divides"
        return opened, closed + 1 + behind.end(), f"{behind['a']} {does} all that stands in the brackets"
    if before := re.search(rf"(?<![\w.\])])(?P<a>{name})\s*(?P<sign>[*])\s*$", code[:opened]):
        if re.search(r"[/%]\s*$", code[: before.start()]):
            return None
        return before.start(), closed + 1, f"{before['a']} multiplies all that stands in the brackets"
    if quotient := _quotient(code, opened):
        return (
            code.rfind(quotient, 0, opened),
            closed + 1,
            f"`{quotient}` multiplies all that stands in the brackets behind it",
        )
    return None


def _quotient(code: str, opened: int) -> str:
    """The quotient right before ``* (``, as in ``1 / (1 + e) * (a + b)``; "" if there is none."""
    times = re.search(r"\)\s*\*\s*$", code[:opened])
    divisor = next((start for start, end in _pairs(code) if times and end == times.start()), 0)
    over = re.search(r"(?<![\w.\])])[\w.]+(?:\[[^][]*\])?\s*/\s*\w*$", code[:divisor])
    if times is None or over is None or re.search(r"[/%]\s*$", code[: over.start()]):
        return ""
    return code[over.start() : times.start() + 1]


def reach(code: str) -> str:
    """What a factor before or behind brackets takes in, as a sentence with a space in front; "" if there is none."""
    for opened, closed in _pairs(code):
        starts = list(_terms(code, opened + 1, closed))
        if starts and (reached := reaching(code, opened, closed)):
            first = " ".join(code[opened + 1 : starts[-1]].split())
            last = " ".join(code[starts[0] : closed].split())
            return f" In it {reached[2]}: `{first}`, and `{last}` as well."
    return ""


def _held(code: str) -> str:
    """The code in brackets, where a factor would else reach a part of it alone, or it is a quotient."""
    return code if re.fullmatch(r"[\w.]+(?:\[[^][]*\])?|\w+\([^()]*\)", code) else f"({code})"


def _pairs(code: str) -> list[tuple[int, int]]:
    """Where round brackets open and close, the outer ones first."""
    opened, found = [], []
    for at, sign in enumerate(code):
        if sign == "(":
            opened.append(at)
        elif sign == ")" and opened:
            found.append((opened.pop(), at))
    return sorted(found)


def _terms(code: str, start: int, end: int) -> Iterator[int]:
    """Where a sum between two brackets goes on, the last term first."""
    depth, found = 0, []
    for at in range(start, end):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0 and code[at] in "+-" and re.search(r"[\w)\]]\s*$", code[start:at]):
            found.append(at)
    yield from reversed(found)


def _bare(code: str) -> str:
    return re.sub(r"\s", "", code)


def _agree(one: str, other: str) -> bool:
    """Whether two expressions of C++ have the same value, whatever their names stand for."""
    trees = [_parsed(one), _parsed(other)]
    drawn = random.Random(0)  # noqa: S311 - values to try, no secrets
    for _ in range(TRIES):
        names: dict[str, float] = {}
        try:
            first, second = (_value(tree, names, drawn) for tree in trees)
        except (ValueError, ZeroDivisionError, OverflowError):
            return False
        if not math.isclose(first, second, rel_tol=CLOSE):
            return False
    return True


def _parsed(code: str) -> ast.expr | None:
    plain = re.sub(r"\bstatic_cast\s*<[^<>]*>|(?<=[\d.])[fF]\b", "", code)
    try:
        return python_text.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None


def _value(node: ast.expr | None, names: dict[str, float], drawn: random.Random) -> float:
    """The expression's value; what has a name or an index gets a random one. Raises ValueError for other things."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return names.setdefault(ast.unparse(node), drawn.uniform(0.5, 2.0))
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, names, drawn)
        case ast.BinOp():
            left, right = _value(node.left, names, drawn), _value(node.right, names, drawn)
            match node.op:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case ast.Div():
                    return left / right
        case ast.Call(func=ast.Name(id=name), args=[one]) if (
            called := name.strip("_").removesuffix("f")
        ) in FUNCTIONS:
            return float(FUNCTIONS[called](_value(one, names, drawn)))
    raise ValueError
