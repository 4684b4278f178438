"""A batch whose dimensions stand in another order than a convolution takes them."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import read

if TYPE_CHECKING:
    from grader.domain.verdict import Finding
    from grader.feedback.explain.engine import Explanation

ERROR = re.compile(r"expected input\s*\[(?P<shape>[\d, ]+)\] to have (?P<want>\d+) channels")
ORDERS = {
    3: ("Conv1d", "batch, channels, length"),
    4: ("Conv2d", "batch, channels, height, width"),
    5: ("Conv3d", "batch, channels, depth, height, width"),
}
MAKERS = {"randn", "rand", "empty", "zeros", "ones"}


def channels(found: Explanation, finding: Finding, source: str) -> Explanation:
    """The explanation at the one line that makes a tensor of the refused shape, with the right order of its sizes."""
    told = ERROR.search(f"{finding.message} {finding.evidence.get('text', '')}".replace("\n", " "))
    tree = read(source).tree
    if told is None or tree is None:
        return found
    shape, want = [int(n) for n in told["shape"].split(",")], int(told["want"])
    made = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _shape(n) == shape]
    if len(shape) not in ORDERS or len(made) != 1:
        return found
    layer, order = ORDERS[len(shape)]
    call, line = made[0], made[0].lineno
    cause = f"{layer} takes {order}, in this order: `{ast.unparse(call)}` has {shape[1]} channels, and the layer takes {want}."
    last = shape[-1] == want
    right = [shape[0], want, *(shape[1:-1] if last else shape[2:])]
    name = ast.unparse(call.func).rpartition(".")[2]
    fix = f"Write `{name}({', '.join(map(str, right))})`" + (
        "." if last else f", or make the layer's first number {shape[1]}."
    )
    return replace(found, cause=cause, fix=fix, line=line, code=source.splitlines()[line - 1].strip())


def _shape(call: ast.Call) -> list[int]:
    """The sizes that ``torch.randn(4, 3, 8, 8)`` is given as plain numbers; none if it is no such call."""
    sizes = (
        call.args[0].elts
        if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List)
        else call.args
    )
    numbers = [n.value for n in sizes if isinstance(n, ast.Constant) and isinstance(n.value, int)]
    return (
        numbers if ast.unparse(call.func).rpartition(".")[2] in MAKERS and len(numbers) == len(sizes) else []
    )
