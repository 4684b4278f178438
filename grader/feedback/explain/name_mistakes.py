"""Facts about names in Python that have no value: an import that is missing, another language's word, a slip."""

from __future__ import annotations

import ast
import builtins
import difflib
import re
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import indices
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.engine import Explanation

Function = ast.FunctionDef
BRANCHES = (ast.If, ast.For, ast.While, ast.Try)
LOST = re.compile(r"NameError: (?:free variable|name) '(?P<name>\w+)' is not defined")
UNSET = re.compile(r"local variable '(?P<name>\w+)' (?:where it is not|referenced before)")
MODULES = {
    name: f"import {name}" for name in (
        "bisect", "collections", "contextlib", "ctypes", "dataclasses", "functools", "itertools", "json", "math",
        "numba", "numpy", "operator", "os", "pathlib", "random", "re", "statistics", "sys", "time", "timeit",
        "torch", "triton",
    )
} | {
    "np": "import numpy as np", "nn": "from torch import nn", "F": "import torch.nn.functional as F",
    "tl": "import triton.language as tl", "cuda": "from numba import cuda",
}  # fmt: skip
# What is used without a dot behind it.
PARTS = {
    "Path": "from pathlib import Path", "ProfilerActivity": "from torch.profiler import ProfilerActivity",
    "dataclass": "from dataclasses import dataclass", "load": "from torch.utils.cpp_extension import load",
    "load_inline": "from torch.utils.cpp_extension import load_inline", "median": "from statistics import median",
    "perf_counter": "from time import perf_counter", "quantiles": "from statistics import quantiles",
    "record_function": "from torch.profiler import record_function",
}  # fmt: skip
CPP = {"true": "True", "false": "False", "nullptr": "None", "NULL": "None", "null": "None", "this": "self",
       "printf": "print"}  # fmt: skip
# CUDA's words, and what a kernel in Python may call the arguments that have these numbers.
INDICES = {
    "threadIdx": ("thread", "tid", "t"), "blockIdx": ("block", "bid", "b"),
    "blockDim": ("size", "block_size", "threads"), "gridDim": ("blocks",),
}  # fmt: skip
ALIKE = 0.75
LONGEST = 90  # characters of a line that is written out
FIRST_IS_TEXT = ("load_inline", "record_function", "device")


def at_load(finding: Finding, source: str) -> Explanation | None:
    """The same where a name is missing already while the file is imported."""
    text = read(source)
    for find, _ in FACTS:
        for fact in find(text, finding):
            return indices.told(fact, source)
    return None


def _line(finding: Finding) -> int:
    """The file's line that raised; 0 if it is not known."""
    found = re.findall(r"\.py, line (\d+)", finding.message)
    return int(found[-1]) if found else 0


def _lost(text: SubmissionText, finding: Finding) -> tuple[ast.Module, str, int] | None:
    """The file, the name that it does not know and the line where that was asked for."""
    told = LOST.search(finding.message)
    if told is None or text.tree is None:
        return None
    used = [n.lineno for n in text.nodes if isinstance(n, ast.Name) and n.id == told["name"]]
    line = _line(finding)
    if line not in used:
        line = min(used, default=0)
    return (text.tree, told["name"], line) if line else None


def _around(tree: ast.AST, line: int) -> Function | None:
    """The innermost function that holds the line."""
    found = [n for n in ast.walk(tree) if isinstance(n, Function) and n.lineno <= line <= (n.end_lineno or 0)]
    return max(found, key=lambda f: f.lineno, default=None)


def _names(function: Function) -> list[str]:
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _cuda_word(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``threadIdx.x`` in Python, where the kernel's arguments have these numbers."""
    lost = _lost(text, finding)
    if lost is None or lost[1] not in INDICES:
        return
    tree, name, line = lost
    function = _around(tree, line)
    begin = f"{name} is a word of CUDA C++, which Python does not know."
    if "numba" in text.source:
        yield Fact("cuda-word", line, begin, f"numba has it in its module cuda: `cuda.{name}.x`.")
        return
    names = _names(function) if function else []
    known = {word: n for word, every in INDICES.items() for n in every if n in names}
    if function and (said := _in_arguments(function, line, known)):
        listed = ", ".join(dict.fromkeys(known.values()))
        cause = f"{begin} Here the numbers of a thread are arguments of {function.name}: {listed}."
        yield Fact("cuda-word", line, cause, f"Write `{said}`.")
    elif function and names[:1] == ["i"]:
        yield Fact(
            "cuda-word", line, f"{begin} Here {function.name} is given the thread's own number, i.", "Use i."
        )
    else:
        yield Fact("cuda-word", line, begin, "")


class _ByArguments(ast.NodeTransformer):
    """Takes the argument for each of CUDA's words."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        plain = isinstance(node.value, ast.Name) and node.value.id in self.known and node.attr == "x"
        return self.visit(node.value) if plain else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.known.get(node.id, node.id), node.ctx)


def _in_arguments(function: Function, line: int, known: dict[str, str]) -> str:
    """The line's assignment with arguments in place of CUDA's words; "" if some have none."""
    made = [n for n in ast.walk(function) if isinstance(n, ast.Assign) and n.lineno == line]
    if len(made) != 1:
        return ""
    said = ast.unparse(_ByArguments(known).visit(python_text.parse(ast.unparse(made[0]))))
    return "" if re.search(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b|\.[yz]\b", said) else said


def _not_imported(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``statistics.median(...)`` in a file that does not import statistics."""
    lost = _lost(text, finding)
    if lost is None:
        return
    tree, name, line = lost
    dotted = any(isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == name
                 for n in ast.walk(tree))  # fmt: skip
    words = MODULES.get(name) if dotted else PARTS.get(name)
    if words is None or name in _given(tree):
        return
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in imports:  # in another function, where alone it is known
        if name in {a.asname or a.name for a in node.names} and (inside := _around(tree, node.lineno)):
            cause = f"{name} is imported inside of {inside.name} and known there alone; line {line} uses it as well."
            yield Fact("not-imported", node.lineno, cause, "Move this line to the top of the file.")
            return
    top = [n.lineno for n in tree.body if isinstance(n, ast.Import) or (
        isinstance(n, ast.ImportFrom) and n.module != "__future__")]  # fmt: skip
    cause = f"Line {line} uses {name}, and no line of the file imports it."
    if top:
        yield Fact("not-imported", top[0], cause, f"Write `{words}` above this line, at the top of the file.")
    else:
        yield Fact("not-imported", line, cause, f"Write `{words}` at the top of the file.")


def _given(tree: ast.AST) -> set[str]:
    """The names that get a value somewhere in it; imported ones not counted."""
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return found | {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def _cpp_word(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``true`` in Python."""
    lost = _lost(text, finding)
    if lost and lost[1] in CPP and lost[1] not in _given(lost[0]):
        yield Fact("cpp-word", lost[2], f"`{lost[1]}` is a word of C++; in Python it is `{CPP[lost[1]]}`.",
                   f"Write `{CPP[lost[1]]}`.")  # fmt: skip


def _no_quotes(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``STUDENT = Ada``: a name that nothing has where a text is wanted."""
    lost = _lost(text, finding)
    if lost is None or lost[1] in _given(lost[0]):
        return
    tree, name, line = lost
    here = [n for n in _wanted_texts(tree) if isinstance(n, ast.Name) and n.id == name and n.lineno == line]
    if not here:
        return
    (shown,) = text.source.splitlines()[line - 1 : line]
    found = [*re.finditer(rf"(?<![\w.\"']){re.escape(name)}(?![\w.\"'])", shown)]
    cause = f"{name} without quotes is the name of a variable, and no line gives it a value. What is wanted here is a text."
    whole = "" if len(found) != 1 else f'{shown[: found[0].start()]}"{name}"{shown[found[0].end() :]}'.strip()
    write = f"`{whole}`" if whole and len(whole) < LONGEST and "#" not in whole else f'`"{name}"`'
    yield Fact("no-quotes", line, cause, f"Write {write}.")


def _wanted_texts(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands where only a text can stand: names, of a student, a module, functions, regions, devices."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "STUDENT" for t in node.targets
        ):
            yield node.value
        elif isinstance(node, ast.Dict) and any(
            isinstance(k, ast.Constant) and isinstance(k.value, str) for k in node.keys
        ):
            yield from (k for k in node.keys if k is not None)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
            yield from node.args[:1] if called in FIRST_IS_TEXT else ()
            for word in node.keywords:
                if word.arg in ("name", "device") or (called == "load_inline" and word.arg == "functions"):
                    yield from (
                        word.value.elts if isinstance(word.value, ast.List | ast.Tuple) else [word.value]
                    )


def _misspelt(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A name that nothing has, and that is like one which the place knows."""
    lost = _lost(text, finding)
    if lost is None or lost[1] in _given(lost[0]):
        return
    tree, name, line = lost
    function = _around(tree, line)
    known = _given(function) if function else set()
    for node in tree.body:
        known |= (
            {a.asname or a.name for a in node.names}
            if isinstance(node, ast.Import | ast.ImportFrom)
            else set()
        )
        known |= {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()
        known |= _given(node) if isinstance(node, ast.Assign | ast.AnnAssign) else set()
    same = sorted(n for n in known if n.lower() == name.lower())
    near = same or difflib.get_close_matches(name, sorted({*known, *dir(builtins)}), 1, ALIKE)
    if near and len(name) > 1:
        yield Fact("name-misspelt", line, f"Nothing in this file is called {name}.", f"Is `{near[0]}` meant?")


def _of_another_function(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A name that another function alone gives a value."""
    lost = _lost(text, finding)
    if lost is None:
        return
    tree, name, line = lost
    here = _around(tree, line)
    others = [
        f
        for f in ast.walk(tree)
        if isinstance(f, Function) and f is not here and name in _given(f) - {f.name}
    ]
    top = any(name in _given(n) for n in tree.body if not isinstance(n, ast.FunctionDef | ast.ClassDef))
    if len(others) == 1 and not top and (here is None or name not in _given(here)):
        cause = f"{name} is a name of {others[0].name} (line {others[0].lineno}) and known there alone."
        where = f"{here.name} needs" if here else "What stands here needs"
        yield Fact(
            "of-another-function", line, cause, f"{where} a value of its own: an argument, or a line above."
        )


def _set_in_a_branch(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A local name that is used outside of the one block that gives it a value."""
    told, line = UNSET.search(finding.message), _line(finding)
    function = _around(text.tree, line) if text.tree and told else None
    if told is None or function is None or told["name"] in _names(function):
        return
    name = told["name"]
    lines = {n.lineno for n in ast.walk(function)
             if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)}  # fmt: skip
    before = sorted(n for n in lines if n < line)
    changed = {n.lineno for n in ast.walk(function) if isinstance(n, ast.AugAssign)}
    before = [n for n in before if n not in changed] or before
    added = [n for n in ast.walk(function) if isinstance(n, ast.AugAssign) and n.lineno == line
             and ast.unparse(n.target) == name]  # fmt: skip
    if not before and added:
        cause = f"{name} has no value yet where this line changes it."
        yield Fact("no-first-value", line, cause, f"Give it one before: `{name} = 0`, if it is a sum.")
    elif not before:
        cause = f"{name} has no value yet in this line; it gets one in line {min(lines, default=line)}."
        if lines and min(lines) > line:
            yield Fact(
                "used-before", line, cause, f"{name} needs its value first: it belongs above this line."
            )
    else:
        yield from _outside(function, name, before, line)


def _outside(function: Function, name: str, before: list[int], line: int) -> Iterator[Fact]:
    """The block that holds all lines which give the name a value, and not the one that asks for it."""
    blocks = [n for n in ast.walk(function) if isinstance(n, BRANCHES) and n.lineno <= before[0]
              and before[-1] <= (n.end_lineno or 0) < line]  # fmt: skip
    if not blocks:
        return
    block = min(blocks, key=lambda n: n.lineno)
    head = ast.unparse(block).split("\n")[0]
    where = f"line {before[0]}" if len(before) == 1 else f"lines {', '.join(map(str, before))}"
    reached = {
        ast.If: "is reached as well where none of that is done",
        ast.For: "is reached as well if the loop has no turn",
        ast.While: "is reached as well if the loop has no turn",
    }.get(type(block), "is reached as well where that was not done")
    if line in _left_out(function, block):
        cause = f"{name} gets its value in {where} alone, inside of `{head}` (line {block.lineno}). This line stands outside of that, and {reached}."
        fix = f"If it belongs to that block, indent it as far as line {block.body[0].lineno}; else give {name} a value before line {block.lineno}."
        yield Fact("set-in-a-branch", line, cause, fix)


def _left_out(function: Function, block: ast.stmt) -> set[int]:
    """The lines of the function below a block and outside of it."""
    return set(range((block.end_lineno or block.lineno) + 1, (function.end_lineno or 0) + 1))


def _kernel_of_the_maker(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel = build``, and then ``kernel(x, out)``."""
    told = re.search(r"TypeError: (?:[\w.<>]*\.)?(?P<f>\w+)\(\) takes (?:0|no) positional arguments? but (?P<n>\d+)",
                     finding.message)  # fmt: skip
    line = _line(finding)
    function = _around(text.tree, line) if text.tree and told else None
    if text.tree is None or told is None or function is None:
        return
    maker = told["f"]
    called = {ast.unparse(n.func) for n in ast.walk(function) if isinstance(n, ast.Call) and n.args
              and n.lineno <= line <= (n.end_lineno or 0)}  # fmt: skip
    for node in text.nodes:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == maker):
            continue
        target = ast.unparse(node.targets[0])
        if target in called:
            cause = f"{target} is {maker} itself here, not what {maker} gives: {maker} takes no arguments, and line {line} hands it {told['n']}."
            yield Fact("maker-not-called", node.lineno, cause, f"Call it: `{target} = {maker}()`.")
            return
    if maker in called and maker.startswith("build"):
        cause = f"{maker} takes no arguments: it gives a function, and that takes the {told['n']} that stand here."
        yield Fact("maker-not-called", line, cause,
                   f"Keep what it gives before the timing, `kernel = {maker}()`, and call that.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = tuple(
    (find, frozenset({Status.RAISED}))
    for find in (
        _cuda_word, _not_imported, _cpp_word, _no_quotes, _set_in_a_branch, _kernel_of_the_maker, _misspelt,
        _of_another_function,
    )
)  # fmt: skip
