"""A thread's number that takes blocks, threads or elements to be numbered from 1; see ``facts.py``.

What is written with is compared with ``block * size + thread`` for a few numbers of each: if it is off by 1, or by one
whole block, for all of them, a 1 is added or subtracted that should not be.
"""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST, LONGEST = 40, 200  # statements that are looked at, and characters of each
LARGEST = 1 << 40  # of a number in an index
SAMPLES = ((0, 0, 8), (0, 5, 8), (3, 0, 8), (2, 7, 16), (5, 3, 4))  # block, thread, size
CAST = re.compile(
    r"static_cast\s*<[^<>]*>|\(\s*(?:unsigned|int|long|size_t|u?int(?:32|64)_t|long long)(?: int)?\s*\)"
)
BUILT = re.compile(r"\b(blockIdx|threadIdx|blockDim)\s*\.\s*([xyz])\b")
MADE = re.compile(r"\b(?P<name>[A-Za-z_]\w*)\s*=(?!=)(?P<value>[^;={}]*\b(?:blockIdx|threadIdx)\b[^;={}]*)")


def _value(node: ast.expr, numbers: dict[str, int], made: dict[str, ast.expr]) -> int | None:
    """What a sum or product of these names and whole numbers gives; None if it is made of other things."""
    match node:
        case ast.Name(id=name) if name in numbers:
            return numbers[name]
        case ast.Name(id=name) if name in made:
            return _value(made[name], numbers, {})
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            a, b = _value(left, numbers, made), _value(right, numbers, made)
            if a is None or b is None or max(abs(a), abs(b)) > LARGEST:
                return None
            return a * b if isinstance(op, ast.Mult) else a + b if isinstance(op, ast.Add) else a - b
    return None


def _off(
    node: ast.expr, names: tuple[str, str, str], made: dict[str, ast.expr] | None = None
) -> tuple[int, int] | None:
    """How many blocks and how many elements it is above ``block * size + thread``; None if it is something else."""
    found = []
    for numbers in SAMPLES:
        value = _value(node, dict(zip(names, numbers, strict=True)), made or {})
        if value is None:
            return None
        found.append(value - numbers[0] * numbers[2] - numbers[1])
    if found[0] in (-1, 0, 1) and len({*found}) == 1:
        return 0, found[0]
    return next(((sign, 0) for sign in (1, -1) if found == [sign * size for _, _, size in SAMPLES]), None)


def _said(what: str, off: tuple[int, int], right: str, size: str) -> tuple[str, str]:
    """Cause and fix, for an index off by so many blocks or elements; ``right``: the thread's number."""
    blocks, elements = off
    least = f"{'-' if blocks < 0 else ''}{size}" if blocks else f"{elements}"
    how = ("one whole block" if blocks else "one element") + (
        " too far" if blocks + elements > 0 else " too low"
    )
    cause = (
        f"Blocks and threads are numbered from 0, as elements are: in thread 0 of block 0, `{what}` is {least}, and it lies {how} "
        "in every other thread, too."
    )
    return cause, f"Write `{right}`: nothing is to be added to it or taken from it."


def _in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``i = (block - 1) * size + thread``, or ``out[i - 1] = ...``, in a kernel that ran on a grid."""
    functions = text.python_functions
    kernel = next((f for f in functions if f.name == finding.evidence.get("on_grid")), None)
    if kernel is None or len(kernel.args.args) < 5:
        return
    block, thread, size = (a.arg for a in kernel.args.args[:3])
    names = block, thread, size
    nodes = list(ast.walk(kernel))
    every: dict[str, list[ast.expr]] = {}
    for target, value in ((t, n.value) for n in nodes if isinstance(n, ast.Assign) for t in n.targets):
        every.setdefault(ast.unparse(target), []).append(value)
    moved = {ast.unparse(n.target) for n in nodes if isinstance(n, ast.AugAssign | ast.For | ast.NamedExpr)}
    if {*names} & (every.keys() | moved):
        return
    made = {name: values[0] for name, values in every.items() if len(values) == 1 and name not in moved}
    stored = [n.slice for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    offs = [_off(index, names, made) for index in stored[:MOST]]
    if not stored or offs[0] in (None, (0, 0)) or {*offs} != {offs[0]}:
        return
    index, off = stored[0], offs[0]
    read = [n.slice for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)]
    if not isinstance(index, ast.Name) and any(_off(one, names, made) == (0, 0) for one in read[:MOST]):
        return  # out[i + 1] = x[i] may be meant so
    own = made[index.id] if isinstance(index, ast.Name) else index
    used = [n.id for n in ast.walk(index) if isinstance(n, ast.Name) and n.id in made] if own is index else []
    right = used[0] if used and _off(made[used[0]], names) == (0, 0) else f"{block} * {size} + {thread}"
    assert off is not None
    cause, fix = _said(ast.unparse(own), off, right, size)
    yield Fact("numbered-from-one", own.lineno, cause, fix)


def _in_cuda(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``i = (blockIdx.x - 1) * blockDim.x + threadIdx.x``, where ``i`` or what is made of it is stored with."""
    for kernel in text.kernels:
        for made in islice(MADE.finditer(kernel.body), MOST):
            name, code = made["name"], " ".join(made["value"].split())
            letters = {m[2] for m in BUILT.finditer(code)}
            if len(letters) != 1 or len(code) > LONGEST:
                continue
            python = BUILT.sub(lambda m: m[1], CAST.sub("", code))
            try:
                node = python_text.parse(python.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            off = _off(node, ("blockIdx", "threadIdx", "blockDim"))
            if off in (None, (0, 0)) or not _stored_with(kernel.body, name):
                continue
            d = letters.pop()
            wide = re.search(r"static_cast\s*<[^<>]*64_t>", code)
            block = f"{wide[0]}(blockIdx.{d})" if wide else f"blockIdx.{d}"
            right = f"{block} * blockDim.{d} + threadIdx.{d}"
            assert off is not None
            cause, fix = _said(code, off, right, f"blockDim.{d}")
            yield Fact("numbered-from-one", text.line(kernel.start + made.start("name")), cause, fix)
            return


def _stored_with(body: str, name: str) -> bool:
    """Whether elements are stored at ``name``, or at a number made of it, and it is nowhere moved by a step."""
    if re.search(rf"\b{name}\s*(?:[-+]\s*\d|[-+]=|\+\+|--)|(?:\d\s*[-+]|\+\+|--)\s*{name}\b", body):
        return False
    further = [
        m[1]
        for m in islice(re.finditer(rf"\b(\w{{1,80}})\s*=(?!=)[^;={{}}?<>]{{0,200}}\b{name}\b", body), MOST)
    ]
    names = "|".join({name, *further})
    return bool(re.search(rf"\[[^][;]{{0,200}}\b(?:{names})\b[^][;]{{0,200}}\]\s*[-+*]?=(?!=)", body))


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_in_python, WRONG | OUTSIDE | TWICE | {Status.RAISED}),
    (_in_cuda, WRONG | OUTSIDE),
)
