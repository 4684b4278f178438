"""What a student's test asks for and hands over: a claim's name, an input without elements; see ``facts.py``."""

from __future__ import annotations

import ast
import difflib
import math
import operator
import re
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.claim_tests import branch, calls, kernels
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ALIKE = 0.7
MAKERS = {"randn", "rand", "zeros", "ones", "empty", "full", "randint"}
SAME_SHAPE = {
    "cuda", "cpu", "half", "float", "double", "clone", "contiguous", "detach", "requires_grad_", "to", "abs", "zero_",
    "zeros_like", "ones_like", "empty_like", "randn_like", "rand_like",
}  # fmt: skip
MOST_VIEWS = 16
MOST = 1 << 20  # of a dimension that is looked at


def _misspelt(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``claim == "accurat"``, where the test is called for "accurate"."""
    asked = re.search(r"never calls the kernel that it is given for '(?P<name>[^']+)'", finding.message)
    if asked is None or text.tree is None:
        return
    name = asked["name"]
    words: dict[str, tuple[int, str]] = {}
    for node in text.nodes:
        match node:
            case ast.Compare(left=left, comparators=[right]):
                sides = [
                    left,
                    *(right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else [right]),
                ]
                code = text.quoted(node)
            case ast.MatchValue(value=value):
                sides, code = [value], f"case {text.quoted(value)}"
            case ast.Dict():
                sides, code = [key for key in node.keys if key], ""
            case _:
                continue
        for one in sides:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                words.setdefault(one.value, (one.lineno, code))
    if name in words:
        return
    close = difflib.get_close_matches(name, words, 1, ALIKE)
    if close:
        line, code = words[close[0]]
        does = f"`{code}` asks" if code else "this entry is"
        cause = f"The test is called for '{name}', and no line asks for that: {does} for '{close[0]}'."
        yield Fact("claim-misspelt", line, cause, f'Write `"{name}"`.')


def _not_empty(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(x[0], 2.0)`` in a test that is for a tensor without elements."""
    if not re.search(
        r"It passes on a kernel that (?:launches a grid of no blocks|refuses a tensor without elements)",
        finding.message,
    ):
        return
    inside = branch(text, finding)
    given = [c for statement in inside for c in calls(statement, kernels(text)) if c.args]
    values = {
        t.id: n.value for f in (text.tree.body if text.tree else ()) if isinstance(f, ast.FunctionDef)
        for n in ast.walk(f) if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    shapes = [_shape(c.args[0], values, 0) for c in given]
    if not given or not all(s is not None and math.prod(s) > 0 for s in shapes):
        return
    call, shape = given[0], shapes[0] or ()
    code, count = text.quoted(call.args[0]), math.prod(shape)
    what = f"of shape {shape}, {count} element{'' if count == 1 else 's'}"
    if re.match(r"(?:torch\.)?empty", code) or "torch.empty" in code:
        what += ": `empty` leaves the values open, and makes as many as it is asked for"
    elif isinstance(call.args[0], ast.Subscript) and isinstance(call.args[0].slice, ast.Constant):
        what += f": row {ast.unparse(call.args[0].slice)} of {ast.unparse(call.args[0].value)}"
    cause = (
        f"`{code}` is {what}. It is not empty, so the kernel is never asked for a result without elements."
    )
    x = re.match(r"[A-Za-z_]\w*", code)
    name = (
        x[0]
        if x and x[0] in values
        else next((n for n, v in values.items() if len(_shape(v, values, 0) or ()) > 1), "")
    )
    whole = _shape(values[name], values, 0) if name in values else None
    fix = 'Hand over a tensor with a dimension of 0, as `torch.empty(0, 7, device="cuda")`.'
    if whole:
        fix = f"No rows of {name} is `{name}[:0]`, of shape {(0, *whole[1:])}: hand that over, and expect that shape."
    yield Fact("not-empty", call.lineno, cause, fix)


def _shape(node: ast.expr, values: dict[str, ast.expr], deep: int) -> tuple[int, ...] | None:
    """The shape of a tensor as far as the text tells; None if it does not."""
    if deep > 8:
        return None
    match node:
        case ast.Name(id=name) if name in values:
            return _shape(values[name], {k: v for k, v in values.items() if k != name}, deep + 1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=ast.Constant()):
            return _shape(left, values, deep + 1)
        case ast.BinOp(left=ast.Constant(), op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _shape(right, values, deep + 1)
        case ast.Subscript(value=of, slice=index):
            whole = _shape(of, values, deep + 1)
            return _part(whole, index.elts if isinstance(index, ast.Tuple) else [index]) if whole else None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=how), args=given) if how in MAKERS:
            if how == "randint":
                given = given[2:3] if len(given) > 2 else given[1:2]
            elif how == "full":
                given = given[:1]
            sizes = given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
            numbers = tuple(
                n.value for n in sizes if isinstance(n, ast.Constant) and isinstance(n.value, int)
            )
            fits = len(numbers) == len(sizes) and sizes and all(0 <= n <= MOST for n in numbers)
            return (
                numbers
                if fits
                and not (how in ("full", "randint") and not isinstance(given[0], ast.Tuple | ast.List))
                else None
            )
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=how), args=[of]) if (
            how in SAME_SHAPE
        ):
            return _shape(of, values, deep + 1)
        case ast.Call(func=ast.Attribute(value=of, attr="t"), args=[]):
            whole = _shape(of, values, deep + 1)
            return whole[::-1] if whole else None
        case ast.Call(func=ast.Attribute(value=of, attr=how)) if how in SAME_SHAPE:
            return _shape(of, values, deep + 1)
    return None


def _part(shape: tuple[int, ...], indices: list[ast.expr]) -> tuple[int, ...] | None:
    """The shape of ``x[indices]``."""
    if len(indices) > len(shape):
        return None
    left = []
    for size, index in zip(shape, indices, strict=False):
        try:
            whole = ast.literal_eval(index) if not isinstance(index, ast.Slice) else index
        except (ValueError, TypeError):
            return None
        if isinstance(whole, ast.Slice):
            try:
                ends = [
                    None if e is None else operator.index(ast.literal_eval(e))
                    for e in (whole.lower, whole.upper, whole.step)
                ]
            except (ValueError, TypeError):
                return None
            if ends[2] == 0:
                return None
            left.append(len(range(size)[slice(*ends)]))
        elif isinstance(whole, bool) or not isinstance(whole, int) or not -size <= whole < size:
            return None
    return (*left, *shape[len(indices) :])


def _begin_alike(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for view in (x.t(), x[:, ::2])`` where a kernel passes that takes every tensor to begin at 16 bytes."""
    if "begin at a multiple of 16 bytes" not in finding.message:
        return
    inside = branch(text, finding)
    loops = [n for one in inside for n in ast.walk(one) if isinstance(n, ast.For)]
    given = [ast.unparse(c.args[0]) for one in inside for c in calls(one, kernels(text)) if c.args]
    if len(loops) != 1 or not given or {*given} != {ast.unparse(loops[0].target)}:
        return
    entries = loops[0].iter.elts if isinstance(loops[0].iter, ast.Tuple | ast.List) else []
    values = {
        t.id: n.value for n in ast.walk(text.tree or loops[0]) if isinstance(n, ast.Assign)
        for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    lying = [laid(entry, values, 0) for entry in entries[:MOST_VIEWS]]
    views = [one for one in lying if one is not None]
    if not entries or len(views) != len(entries):
        return
    begins = [_begin(one) % 16 for one in views]
    if any(b and one.flags.c_contiguous for b, one in zip(begins, views, strict=True)):
        return
    gaps = next((text.quoted(e) for e, b in zip(entries, begins, strict=True) if b), "")
    name = next((n.id for n in ast.walk(entries[0]) if isinstance(n, ast.Name) and n.id in values), "x")
    cause = f"Every one of these views begins where {name} does, or another multiple of 16 bytes behind that."
    if gaps:
        cause = (
            f"Of these views only those with gaps begin elsewhere, as `{gaps}`. A kernel that calls contiguous() gets a copy of "
            "such a view, and a copy begins at a multiple of 16 bytes."
        )
    yield Fact("views-begin-alike", loops[0].lineno, cause,
               f"Add a view without gaps that begins elsewhere: `{name}.flatten()[1:]`.")  # fmt: skip


def laid(node: ast.expr, values: dict[str, ast.expr], deep: int) -> NDArray[Any] | None:
    """An array that lies in memory as the view does; None if the text does not tell."""
    import numpy as np  # for this question alone

    if deep > 8:
        return None
    match node:
        case ast.Name(id=name) if name in values:
            return laid(values[name], {k: v for k, v in values.items() if k != name}, deep + 1)
        case (
            ast.Attribute(value=of, attr="T" | "mT")
            | ast.Call(func=ast.Attribute(value=of, attr="t"), args=[])
        ):
            whole = laid(of, values, deep + 1)
            return None if whole is None else whole.T
        case ast.Subscript(value=of, slice=index):
            whole = laid(of, values, deep + 1)
            try:
                return None if whole is None else whole[_index(index)]
            except (ValueError, TypeError, IndexError):
                return None
        case ast.Call(func=ast.Attribute(value=of, attr="contiguous" | "clone" as how), args=[], keywords=[]):
            whole = laid(of, values, deep + 1)  # clone keeps the order of the dimensions in memory
            return None if whole is None else whole.copy("C" if how == "contiguous" else "K")
        case ast.Call(func=ast.Attribute(value=of, attr="flatten" | "ravel"), args=[]):
            whole = laid(of, values, deep + 1)
            return None if whole is None else whole.reshape(-1)
        case ast.Call(func=ast.Attribute(value=of, attr="view" | "reshape"), args=sizes):
            whole = laid(of, values, deep + 1)
            try:
                return None if whole is None else whole.reshape([ast.literal_eval(n) for n in sizes])
            except (ValueError, TypeError):
                return None
    shape = _shape(node, values, deep)
    fresh = isinstance(node, ast.BinOp) or ast.unparse(node).startswith("torch.")
    if shape is None or not fresh or not 0 < math.prod(shape) <= MOST:
        return None
    return np.empty(shape, np.float32)


def _index(node: ast.expr) -> Any:
    """What stands between square brackets, if it is slices and numbers."""
    if isinstance(node, ast.Tuple):
        return tuple(map(_index, node.elts))
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if e is None else operator.index(ast.literal_eval(e)) for e in ends))
    return operator.index(ast.literal_eval(node))


def _begin(view: NDArray[Any]) -> int:
    """The byte of its tensor's memory that a view begins at."""
    whole = view
    while whole.base is not None:
        whole = whole.base
    return int(view.ctypes.data - whole.ctypes.data)


def _no_view(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for view in (x.t().contiguous(), x.reshape(7, 33))``: no view with gaps, as these are copies or whole."""
    if "as if it had none" not in finding.message:
        return
    inside = branch(text, finding)
    nodes = [n for one in inside for n in ast.walk(one)]
    given = [c.args[0] for one in inside for c in calls(one, kernels(text)) if c.args][:MOST_VIEWS]
    loops = {ast.unparse(n.target): n.iter for n in nodes if isinstance(n, ast.For)}
    made: dict[str, list[ast.expr]] = {}
    assigned = [n for n in text.nodes if isinstance(n, ast.Assign)]
    for target, value in ((t, n.value) for n in assigned for t in n.targets):
        made.setdefault(ast.unparse(target), []).append(value)
    values = {name: every[0] for name, every in made.items() if len(every) == 1}
    entries: list[ast.expr] = []
    for one in given:
        over = loops.get(ast.unparse(one), values.get(ast.unparse(one), one))
        over = values.get(over.id, over) if isinstance(over, ast.Name) else over
        entries += over.elts if isinstance(over, ast.Tuple | ast.List) else [over]
    lying = [laid(entry, values, 0) for entry in entries[:MOST_VIEWS]]
    views = [one for one in lying if one is not None]
    if not entries or len(views) != len(entries) or not all(v.flags.forc for v in views):
        return
    said = [why for entry in entries if (why := _without_gaps(text, entry, values))]
    if not said:
        return
    first = next(e for e in entries if _without_gaps(text, e, values))
    x = next((n.id for n in ast.walk(first) if isinstance(n, ast.Name) and n.id in values), "")
    whole = laid(values[x], values, 0) if x else None
    form = f", as `{x}[:, ::2]`" if whole is not None and whole.ndim == 2 else ""
    only = (
        "This input has no gaps in memory" if len(entries) == 1 else "None of these inputs has gaps in memory"
    )
    cause = f"{only}: {'; '.join(dict.fromkeys(said))}."
    yield Fact("no-view", first.lineno, cause, f"Hand over a view with gaps itself{form}, and no copy of it.")


def _without_gaps(text: SubmissionText, node: ast.expr, values: dict[str, ast.expr]) -> str:
    """Why what a method makes has no gaps, in words; "" if the node is no such call."""
    match node:
        case ast.Name(id=name) if name in values:
            return _without_gaps(text, values[name], {k: v for k, v in values.items() if k != name})
        case ast.Call(
            func=ast.Attribute(
                value=of, attr="contiguous" | "clone" | "reshape" | "view" | "flatten" | "ravel" as how
            )
        ):
            whole = laid(of, values, 0)
            shown, of_it = text.quoted(node), text.quoted(of)
            if whole is None:
                return ""
            if how == "clone":
                return f"`{shown}` is a copy without gaps, and no view"
            if whole.flags.c_contiguous:
                changes = "nothing" if how == "contiguous" else "the shape alone"
                return f"`{of_it}` lies row after row, and `{how}` changes {changes}"
            result = laid(node, values, 0)
            if result is not None and result.flags.c_contiguous:  # then it was copied
                return f"`{shown}` is a copy of `{of_it}`, row after row without gaps, and no view"
    return ""


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_misspelt, frozenset({Status.WRONG_ANSWER})),
    (_not_empty, frozenset({Status.WRONG_ANSWER})),
    (_begin_alike, frozenset({Status.WRONG_ANSWER})),
)
LAST: tuple[tuple[Finder, frozenset[Status]], ...] = ((_no_view, frozenset({Status.WRONG_ANSWER})),)
