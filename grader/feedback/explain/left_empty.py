"""What must go with statements of Python that are taken away: a block cannot be left without any."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain import python_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


AWAY = "Take it away."


def without(source: str, lines: Collection[int]) -> str:
    """How to take the statements of these lines away: a sentence, with the heads of blocks that they alone fill."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return AWAY
    text, gone, heads = source.splitlines(), set(lines), list[int]()
    while found := next((b for b in _blocks(tree, text) if b[0] not in heads and _all_in(b[1], gone)), None):
        head, block, needed = found
        if needed and (head not in lines or head == block[0].lineno):
            return (
                f"Write `pass` in its place, as line {head}, `{text[head - 1].strip()}`, needs a statement."
            )
        if head == block[0].lineno:
            return "Take the whole line away."
        gone.add(head)
        heads.append(head)
    told = " and ".join(f"line {n}, `{text[n - 1].strip()}`," for n in sorted(set(heads) - set(lines)))
    return f"Take it away, and {told} with it: nothing else stands there." if told else AWAY


Block = tuple[int, list[ast.stmt], bool]


def _all_in(block: list[ast.stmt], lines: set[int]) -> bool:
    return all(lines.issuperset(range(one.lineno, (one.end_lineno or one.lineno) + 1)) for one in block)


def _blocks(tree: ast.AST, text: list[str]) -> Iterator[Block]:
    """The line of the head, the statements, and whether the head must stay, since more belongs to it."""
    for node in ast.walk(tree):
        body, orelse = getattr(node, "body", None), getattr(node, "orelse", None)
        if isinstance(body, list) and body and isinstance(node, ast.stmt | ast.ExceptHandler):
            alone = isinstance(node, ast.If | ast.For | ast.While) and not orelse
            yield node.lineno, body, not alone
        if isinstance(orelse, list) and orelse and isinstance(body, list):
            first = orelse[0].lineno
            begin = body[-1].end_lineno or first
            head = next((n for n in range(first, begin, -1) if re.match(r"\s*else\s*:", text[n - 1])), 0)
            if head:
                yield head, orelse, False
