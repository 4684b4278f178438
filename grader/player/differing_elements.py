"""Which elements differ where a student's assertion fails: what a kernel gave and what the test expects."""

from __future__ import annotations

import ast
import linecache
import traceback
from typing import TYPE_CHECKING, Any, TypedDict

import torch

from grader.domain import python_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

COMPARING = {"equal", "allclose", "isclose", "assert_close"}
ROUNDING = 1e-4  # of a number's size: what differs by less is no other value
MOST = 1 << 22  # elements that are looked through


class Differing(TypedDict):
    """How many elements of how many differ, the first and the last of them, and the values at the first."""

    count: int
    elements: int
    first: list[int]
    last: list[int]
    given: str  # as numbers are shown: JSON has no word for NaN
    expected: str


def differing(error: BaseException, path: str, results: list[torch.Tensor]) -> Differing | None:
    """What differs in the comparison of the file ``path`` that raised; None if it compares no two tensors.

    ``results``: what the kernel gave last. The sides of the comparison are computed once more, so the
    kernel must give that again meanwhile.
    """
    found = [f for f in traceback.walk_tb(error.__traceback__) if f[0].f_code.co_filename == path]
    if not isinstance(error, AssertionError) or not found or not results:
        return None
    frame, line = found[-1]
    try:
        for sides in _compared(path, line):
            values = [_value(side, frame) for side in sides]
            ours = [any(_same(value, one) for one in results[-1:]) for value in values]
            if ours.count(True) == 1:
                given, expected = values if ours[0] else values[::-1]
                return _told(given, expected)
    except Exception:  # the student's own expressions may raise whatever they like
        return None
    return None


def _compared(path: str, line: int) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The two sides of each comparison in the statement of this line."""
    tree = python_text.parse("".join(linecache.getlines(path)))
    statements = [n for n in ast.walk(tree) if isinstance(n, ast.Assert | ast.Expr)]
    for statement in (s for s in statements if s.lineno <= line <= (s.end_lineno or 0)):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in COMPARING:
                method = (
                    [node.func.value] if isinstance(node.func, ast.Attribute) and len(node.args) == 1 else []
                )
                if len(sides := [*method, *node.args[:2]]) == 2:
                    yield sides[0], sides[1]
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                yield node.left, node.right
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
                yield node.left, node.comparators[0]


def _value(side: ast.expr, frame: FrameType) -> Any:
    code = compile(ast.Expression(side), "<compared>", "eval")
    return eval(code, frame.f_globals, dict(frame.f_locals))  # noqa: S307 - the student's own, in their process


def _plain(value: torch.Tensor) -> torch.Tensor:
    return value.detach().cpu().double()


def _same(value: Any, result: torch.Tensor) -> bool:
    """Whether a side has the kernel's numbers."""
    if not isinstance(value, torch.Tensor) or value.shape != result.shape or value.numel() > MOST:
        return False
    return torch.equal(_plain(value).nan_to_num(7.0), _plain(result).nan_to_num(7.0))


def _told(given: torch.Tensor, expected: Any) -> Differing | None:
    if not isinstance(expected, torch.Tensor) or expected.shape != given.shape:
        return None
    ours, theirs = _plain(given), _plain(expected)
    other = ~torch.isclose(ours, theirs, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    places = other.nonzero().tolist()
    if not places:
        return None
    first = tuple(places[0])
    return {
        "count": len(places), "elements": ours.numel(), "first": places[0], "last": places[-1],
        "given": f"{float(ours[first]):.7g}", "expected": f"{float(theirs[first]):.7g}",
    }  # fmt: skip
