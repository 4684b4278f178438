"""Batches of images that do not suit a model: channels in another place, images of another size."""

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
LARGEST = 512  # the longest side of an image that is tried
MOST = 64  # layers that are followed
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


def of_another_size(tree: ast.Module, came: int, inner: int) -> tuple[str, str, str] | None:
    """What the one batch of images gives to a Linear, the size that would suit it, and such a batch; None if unknown."""
    calls = sorted(
        (n for n in ast.walk(tree) if isinstance(n, ast.Call)), key=lambda n: (n.lineno, n.col_offset)
    )
    batches = [n for n in calls if len(_shape(n)) == 4]
    layers = [one for n in calls if (one := _window(n))]
    if len(batches) != 1 or len(layers) > MOST:
        return None
    number, given, *image = _shape(batches[0])
    channels = [made for made, *_ in layers if made]
    left = [_side(side, layers) for side in image]
    each = (channels or [given])[-1]
    if min(left) < 1 or each * left[0] * left[1] != came:
        return None
    side = next((s for s in range(1, LARGEST) if each * max(0, _side(s, layers)) ** 2 == inner), 0)
    if not side:
        return None
    shown = ast.unparse(batches[0])
    size, here = (f"{one[0]} x {one[1]}" for one in (image, left))
    gives = f"the batch of line {batches[0].lineno}, `{shown}`, has images of {size}" + (
        f", which are {here} when they come to this layer, in {each} channels" if layers else ""
    )
    right = f"{ast.unparse(batches[0].func)}({number}, {given}, {side}, {side})"
    return gives, f"{side} x {side}", right


def _window(call: ast.Call) -> tuple[int, int, int, int] | None:
    """A convolution's or a pool's channels (0 for a pool), kernel, stride and padding, if they are plain numbers."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name not in ("Conv2d", "MaxPool2d", "AvgPool2d"):
        return None
    names = (["in_channels", "out_channels"] if name == "Conv2d" else []) + [
        "kernel_size",
        "stride",
        "padding",
    ]
    values = dict(zip(names, call.args, strict=False)) | {str(k.arg): k.value for k in call.keywords}
    plain = {
        k: v.value for k, v in values.items() if isinstance(v, ast.Constant) and isinstance(v.value, int)
    }
    kernel = plain.get("kernel_size", 1)
    stride = plain.get("stride", 1 if name == "Conv2d" else kernel)
    return plain.get("out_channels", 0), kernel, max(1, stride), plain.get("padding", 0)


def _side(side: int, layers: list[tuple[int, int, int, int]]) -> int:
    """What is left of a side of an image behind these layers."""
    for _, kernel, stride, padding in layers:
        side = (side + 2 * padding - kernel) // stride + 1
    return side
