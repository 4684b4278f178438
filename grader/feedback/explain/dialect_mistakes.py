"""Facts about kernels in Triton and in numba: see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANY = WRONG | OUTSIDE | {Status.RAISED, Status.WRONG_ANSWER, Status.RACE}


def _name(node: ast.expr) -> str:
    """``a.b.c`` as a text."""
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _kernels(text: SubmissionText, how: str) -> list[ast.FunctionDef]:
    """Functions decorated with @triton.jit or @cuda.jit (``how``), with or without arguments."""
    functions = text.python_functions
    return [
        f for f in functions
        if any(_name(d.func if isinstance(d, ast.Call) else d) == how for d in f.decorator_list)
    ]  # fmt: skip


def _calls(node: ast.AST, name: str) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and _name(n.func) == name]


def _each(how: str, look: Callable[[ast.FunctionDef, Finding], Iterator[Fact]]) -> Finder:
    def find(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
        # Of several kernels in one file, those of the dialect that the check is about.
        word = how.partition(".")[0].replace("cuda", "numba")
        said = f"{finding.id} {finding.message}".lower()
        if ("numba" in said or "triton" in said) and word not in said:
            return
        for kernel in _kernels(text, how):
            yield from look(kernel, finding)

    return find


def _program(kernel: ast.FunctionDef, _finding: Finding) -> Iterator[Fact]:
    ranges = _calls(kernel, "tl.arange")
    numbers = _calls(kernel, "tl.program_id")
    if ranges and not numbers:
        cause = f"{kernel.name} never asks for tl.program_id: every program works on the same elements."
        yield Fact("no-program-id", ranges[0].lineno, cause,
                   "A program's elements are tl.program_id(0) * BLOCK + tl.arange(0, BLOCK).")  # fmt: skip
    for node in ast.walk(kernel):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = (part if isinstance(part, ast.Call) else None for part in (node.left, node.right))
            if {_name(part.func) for part in (left, right) if part} == {"tl.program_id", "tl.arange"}:
                cause = (
                    "Program p begins at element p here, so neighbouring programs share nearly all of their elements. "
                    "It must begin at p times the size of a block."
                )
                yield Fact("program-without-factor", node.lineno, cause,
                           "Write tl.program_id(0) * BLOCK + tl.arange(0, BLOCK).")  # fmt: skip


def _mask(kernel: ast.FunctionDef, finding: Finding) -> Iterator[Fact]:
    if "past the end" not in finding.message and "OutOfBounds" not in finding.message:
        return
    doing = "tl.store" if re.search(r"\bwrites element", finding.message) else "tl.load"
    for call in _calls(kernel, doing):
        places = 2 if doing == "tl.load" else 3
        if len(call.args) < places and "mask" not in {k.arg for k in call.keywords}:
            cause = f"This {doing} has no mask, so the last program works past the end of the tensor as well."
            yield Fact("no-mask", call.lineno, cause, "Leave out what is past the end: mask=i < n.")
    for node in ast.walk(kernel):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.LtE):
            text = ast.unparse(node)
            cause = (
                f"`{text}` lets {ast.unparse(node.comparators[0])} itself through, which is one past the end."
            )
            yield Fact("mask-one-too-far", node.lineno, cause, f"Write `{text.replace('<=', '<')}`.")


def _constexpr(kernel: ast.FunctionDef, finding: Finding) -> Iterator[Fact]:
    if "constexpr" not in finding.message:
        return
    ends = {
        n.id
        for call in _calls(kernel, "tl.arange")
        for a in call.args
        for n in ast.walk(a)
        if isinstance(n, ast.Name)
    }
    for argument in kernel.args.args:
        if argument.arg in ends and argument.annotation is None:
            cause = f"{argument.arg} is the size of a tl.arange, which Triton must know when it compiles {kernel.name}."
            yield Fact("not-constexpr", argument.lineno, cause, f"Write {argument.arg}: tl.constexpr.")


def _foreign(kernel: ast.FunctionDef, _finding: Finding) -> Iterator[Fact]:
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and re.match(r"(?:math|np|numpy|torch)\.", _name(node.func)):
            own = f"tl.{_name(node.func).rpartition('.')[2]}"
            cause = f"{_name(node.func)} does not know Triton's blocks of values; {own} does."
            yield Fact("not-triton", node.lineno, cause, f"Write {own}(...).")
    pointers = {a.arg for a in kernel.args.args if a.annotation is None}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in pointers:
            x, i = node.value.id, ast.unparse(node.slice)
            cause = f"{x} is a pointer in a Triton kernel, and a pointer has no elements in brackets."
            yield Fact(
                "pointer-in-brackets",
                node.lineno,
                cause,
                f"Write tl.load({x} + {i}, mask=...), or tl.store for a result.",
            )


def _sigmoid(kernel: ast.FunctionDef, _finding: Finding) -> Iterator[Fact]:
    for node in ast.walk(kernel):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for call in (node.left, node.right):
                if isinstance(call, ast.Call) and _name(call.func).endswith(".exp") and len(call.args) == 1:
                    other = node.right if call is node.left else node.left
                    if ast.unparse(other) in ("1", "1.0") and not isinstance(call.args[0], ast.UnaryOp):
                        x = ast.unparse(call.args[0])
                        minus = ast.unparse(ast.UnaryOp(ast.USub(), call.args[0]))
                        cause = f"`1 / (1 + {ast.unparse(call)})` is the sigmoid of {minus}: the minus in front of {x} is missing."
                        yield Fact(
                            "sigmoid-sign", call.lineno, cause, "The sigmoid of x is 1 / (1 + exp(-x))."
                        )


def _numba(kernel: ast.FunctionDef, finding: Finding) -> Iterator[Fact]:
    for node in ast.walk(kernel):
        if isinstance(node, ast.Return) and node.value is not None:
            cause = (
                f"{kernel.name} is a kernel, and a kernel returns nothing: what this line computes is lost."
            )
            yield Fact("kernel-returns", node.lineno, cause, "Store it: out[i] = ...")
    used = {_name(n): n.lineno for n in ast.walk(kernel) if isinstance(n, ast.Attribute)}
    if "cuda.threadIdx.x" in used and "cuda.blockIdx.x" not in used:
        cause = f"{kernel.name} uses cuda.threadIdx and never cuda.blockIdx: every block works on the same, first elements."
        yield Fact(
            "no-block-index",
            used["cuda.threadIdx.x"],
            cause,
            "A thread's number in the whole grid is cuda.grid(1).",
        )
    for name, line in used.items():
        if name.startswith("tl."):
            cause = f"{name} is Triton's, for whole blocks of values; a numba kernel computes one element with Python's functions."
            yield Fact("not-numba", line, cause, f"Write math.{name.rpartition('.')[2]}(...).")
    guards = [n for n in ast.walk(kernel) if isinstance(n, ast.If | ast.For | ast.While | ast.IfExp)]
    first = [n.lineno for n in ast.walk(kernel) if isinstance(n, ast.Subscript)]
    if first and not guards and finding.status not in (Status.WRONG_OUTPUT, Status.PRECISION):
        cause = f"{kernel.name} has no guard: the last block has more threads than there are elements left."
        yield Fact("no-guard", min(first), cause, "Before the first access: `if i < x.size:`.")


def _launches(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    names = {k.name for how in ("triton.jit", "cuda.jit") for k in _kernels(text, how)}
    numba = {k.name for k in _kernels(text, "cuda.jit")}
    for node in text.nodes:
        if not (
            isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names
        ):
            continue
        if _other_dialect(node.value.id, finding):
            continue
        grid = ast.unparse(node.slice)
        if node.value.id in numba and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) >= 2:
            first, second = (ast.unparse(part) for part in node.slice.elts[:2])
            if re.search(r"cdiv|//|ceil|blocks|grid", second) and not re.search(
                r"cdiv|//|ceil|blocks|grid", first
            ):
                cause = f"This launch has {first} in the place of the grid and {second} in that of the block."
                yield Fact("launch-swapped", node.lineno, cause, "The grid comes first: [blocks, threads].")
        for part in re.finditer(r"(?P<a>[\w.()]+) // (?P<b>\w+)", grid):
            around = grid[max(0, part.start() - 20) : part.end() + 3]
            if not re.search(r"[-+]|cdiv", around.replace(part[0], "")):
                cause = f"`{part[0]}` rounds down: the elements beyond the last full block get no program."
                yield Fact(
                    "grid-rounded-down",
                    node.lineno,
                    cause,
                    f"Round up: triton.cdiv({part['a']}, {part['b']}).",
                )


def _other_dialect(name: str, finding: Finding) -> bool:
    said = f"{finding.id} {finding.message}".lower()
    return any(
        a in said and b not in said and b in name.lower()
        for a, b in (("triton", "numba"), ("numba", "triton"))
    )


def _host(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A host function that hands on a tensor as it lies, in a check on one with gaps."""
    if not re.search(
        r"every other|gaps|transposed|strided|\bview\b|contiguous", f"{finding.id} {finding.message}"
    ):
        return
    names = {k.name for how in ("triton.jit", "cuda.jit") for k in _kernels(text, how)}
    for node in text.nodes:
        if not isinstance(node, ast.FunctionDef) or node.name in names:
            continue
        launched = [
            n
            for n in ast.walk(node)
            if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in names
        ]
        asked = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        if (
            launched
            and not asked & {"contiguous", "stride", "clone", "reshape"}
            and not _other_dialect(node.name, finding)
        ):
            cause = f"{node.name} hands the tensor on as if its elements lay one after another; this one has gaps."
            yield Fact("not-contiguous", launched[0].lineno, cause, "Before the launch: x = x.contiguous().")


TRITON = "triton.jit"
FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_each(TRITON, _constexpr), frozenset({Status.RAISED})),
    (_each(TRITON, _mask), ANY),
    (_each(TRITON, _foreign), frozenset({Status.RAISED})),
    (_each(TRITON, _program), ANY),
    (_each(TRITON, _sigmoid), frozenset({Status.WRONG_OUTPUT})),
    (_each("cuda.jit", _sigmoid), frozenset({Status.WRONG_OUTPUT})),
    (_each("cuda.jit", _numba), ANY),
    (_launches, ANY),
    (_host, WRONG),
)
