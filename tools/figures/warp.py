"""What one request of a warp touches: the arithmetic of lesson 09, as pictures and figures use it.

``docs/assets/javascripts/arithmetic.js`` does the same in the browser; the tests compare the two, and this
with what Nsight Compute counted.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LANES = 32  # threads of a warp
SECTOR = 32  # bytes
BANKS, BANK = 32, 4  # banks of shared memory, and the bytes that one gives at a time


class ExpressionError(ValueError):
    """Not an index expression; the message says what was not understood."""


def sectors(addresses: Iterable[int], size: int = 4) -> Counter[int]:
    """The sectors that a request for ``size`` bytes at each address touches, and bytes used of each."""
    used = {a + k for a in addresses for k in range(size)}
    return Counter(b // SECTOR for b in used)


def wavefronts(words: Iterable[int]) -> int:
    """Turns that shared memory takes for a request of one 4-byte word a lane: the fullest bank decides."""
    banks = Counter(word % BANKS for word in set(words))
    return max(banks.values(), default=0)


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise ExpressionError("division by zero")
    whole = abs(a) // abs(b)  # C rounds towards zero
    return whole if (a < 0) == (b < 0) else -whole


OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.Mod: lambda a, b: a - b * _quotient(a, b),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def index(expression: str, t: int) -> int:
    """An index expression of CUDA C++ in ``t``, the thread's number; whole numbers only, as in C."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"not an expression: {expression}") from error
    return _value(tree, t)


def _value(node: ast.expr, t: int) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id="t"):
            return t
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, t)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(left, t), _value(right, t))
    raise ExpressionError(f"not understood: {ast.unparse(node)}")
