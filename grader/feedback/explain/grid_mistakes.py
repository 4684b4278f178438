"""Facts about kernels in Python that ran on a grid of threads: loops over all elements, sums that begin wrong."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, operation

if TYPE_CHECKING:
    from collections.abc import Iterator


def _kernel(text: SubmissionText, finding: Finding) -> ast.FunctionDef | None:
    """The kernel that the check has run."""
    name = finding.evidence.get("on_grid")
    functions = text.python_functions
    return next((f for f in functions if f.name == name), None)


def _loop_of_a_thread(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for i in range(n): out[i] = ...`` in what each thread runs."""
    kernel = _kernel(text, finding)
    for node in ast.walk(kernel) if kernel else ():
        if not (kernel and isinstance(node, ast.For) and isinstance(node.target, ast.Name)):
            continue
        index, given = node.target.id, [a.arg for a in kernel.args.args]
        every = re.fullmatch(r"range\((?:0, )?(?:len\(\w+\)|n)\)", ast.unparse(node.iter))
        stored = [n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Subscript)
                  and isinstance(n.ctx, ast.Store) and ast.unparse(n.slice) == index]  # fmt: skip
        if every and stored:
            cause = f"This loop goes over all elements, and each thread runs it: each element of {ast.unparse(stored[0].value)} is written by all threads, not by one."
            own = (
                f"{index} is given, and is the thread's own number"
                if index in given
                else "each thread does the one element of its own number"
            )
            yield Fact(
                "loop-of-a-thread", node.lineno, cause, f"The threads are the loop. Take it away: {own}."
            )
            return


def _own_forgotten(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``total = 0`` at the begin of a sum to which the thread's own element is never added."""
    lost = re.search(
        r"(?<!and )(?P<x>\w+)\[(?P<i>\d+)\] would have to be read for \w+\[(?P=i)\] as well", finding.message
    )
    kernel = _kernel(text, finding)
    if lost is None or kernel is None:
        return
    for node in ast.walk(kernel):
        if not (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value == 0
        ):
            continue
        target = ast.unparse(node.targets[0])
        added = [
            n for n in ast.walk(kernel) if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == target
        ]
        if added and not isinstance(node.value.value, bool):
            own = _own_index(kernel)
            cause = f"{target} begins with 0, and the thread's own element, {lost['x']}[{own}], is nowhere added to it."
            yield Fact(
                "own-forgotten", node.lineno, cause, f"Begin with it: `{target} = {lost['x']}[{own}]`."
            )
            return


def _edge_of_the_block(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if thread > 0`` before ``x[i - 1]``, which leaves a neighbour out at the begin of each block but the first."""
    lost = re.search(r"(?<!and )\w+\[(\d+)\] would have to be read for \w+\[(\d+)\] as well", finding.message)
    kernel, size = _kernel(text, finding), finding.evidence.get("size")
    if lost is None or kernel is None or not isinstance(size, int) or not size or len(kernel.args.args) < 6:
        return
    neighbour, own = int(lost[1]), int(lost[2])
    thread, step = kernel.args.args[1].arg, neighbour - own
    first, last = step == -1 and own % size == 0, step == 1 and neighbour % size == 0
    tests = [n.test for n in ast.walk(kernel) if isinstance(n, ast.If | ast.IfExp)] if first or last else []
    parts = [p for test in tests for p in (test.values if isinstance(test, ast.BoolOp) else [test])]
    for part in parts:
        form = rf"{thread}( (>|!=) 0| >= 1)?" if first else rf"{thread} (<|!=) \w+ - 1|{thread} \+ 1 < \w+"
        if not re.fullmatch(form, ast.unparse(part)):
            continue
        i = _own_index(kernel)
        ask = f"{i} > 0" if first else f"{i} < {kernel.args.args[3].arg} - 1"
        what = (
            "first thread of each block, not only in that of element 0"
            if first
            else "last thread of each block, not only in that of the last element"
        )
        cause = f"`{ast.unparse(part)}` is false in the {what}: block {own // size} has a neighbour for it as well, element {neighbour}."
        yield Fact("edge-of-the-block", part.lineno, cause, f"Ask for the element: `{ask}`.")
        return


def _out_renamed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``out = factor * x[i]``, which stores nothing."""
    kernel = _kernel(text, finding)
    if kernel is None or "writes nothing into out" not in finding.message:
        return
    given = [a.arg for a in kernel.args.args]
    for node in ast.walk(kernel):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in given and name.startswith(
                "out"
            ):
                i = next((n for n in _indices(value)), _own_index(kernel))
                cause = f"This gives the name {name} another value within the kernel; the array keeps what it holds."
                fix = f"Store into its element: `{name}[{i}] = {ast.unparse(value)}`."
                yield Fact("out-renamed", node.lineno, cause, fix)
                return


def _indices(node: ast.expr) -> Iterator[str]:
    """The plain names by which elements are read in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name):
            yield part.slice.id


def _slice(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[i - 1 : i + 2]`` in a kernel, and ``sum(x)``, which goes through all of it."""
    kernel = _kernel(text, finding)
    for node in ast.walk(kernel) if kernel and "is a slice, and a thread" in finding.message else ():
        if kernel and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            x, own = ast.unparse(node.value), _own_index(kernel)
            cause = f"`{ast.unparse(node)}` is a slice, which is several elements at once; a thread reads or writes one at a time."
            parts = _elements(node.slice, own)
            each = f"`{x}[{own}]`" if len(parts) < 2 else ", ".join(f"`{x}[{p}]`" for p in parts)
            fix = f"Name each element by its number, as {each}, and ask first whether it exists."
            yield Fact("slice-in-kernel", node.lineno, cause, fix)
            return


def _elements(part: ast.Slice, own: str) -> list[str]:
    """The indices from one end of a slice to the other, if both are a few steps from the thread's own."""
    ends = []
    for end, limit in ((part.lower, "max"), (part.upper, "min")):
        given = [end]
        if isinstance(end, ast.Call) and ast.unparse(end.func) == limit:
            given = [*end.args]
        said = [ast.unparse(one) for one in given if one is not None]
        steps = [re.fullmatch(rf"{re.escape(own)}(?: ([-+]) (\d))?", one) for one in said]
        ends += [int(f"{m[1]}{m[2]}") if m[2] else 0 for m in steps if m]
    if len(ends) != 2 or part.step is not None:
        return []
    return [own if k == 0 else f"{own} {'-' if k < 0 else '+'} {abs(k)}" for k in range(*ends)]


def _all_of_it(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``sum(x)`` and ``for v in x`` in a kernel, which go through all elements, and one further to see the end."""
    kernel = _kernel(text, finding)
    if kernel is None:
        return
    arrays = {a.arg for a in kernel.args.args} & {"x", "out"}
    named = re.match(r"Line (\d+): ", finding.message)
    line = int(named[1]) if named else 0
    for node in ast.walk(kernel):
        used: ast.expr | None = node.iter if isinstance(node, ast.For | ast.comprehension) else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WHOLE and node.args:
            used = node.args[0]
        if isinstance(used, ast.Name) and used.id in arrays and used.lineno == line:
            said = ast.unparse(node) if isinstance(node, ast.Call) else f"for ... in {used.id}"
            cause = f"`{said}` goes through all elements of {used.id}, in each thread."
            yield Fact("all-of-it", used.lineno, cause, f"A thread reads what its own element needs, by its number: `{used.id}[{_own_index(kernel)}]`.")  # fmt: skip
            return


WHOLE = {"sum", "max", "min", "list", "tuple", "sorted", "enumerate", "any", "all", "reversed", "zip"}


def _own_index(kernel: ast.FunctionDef) -> str:
    """What the kernel writes ``out`` with: the number of the thread's own element."""
    stored = [
        n.slice for n in ast.walk(kernel) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    ]
    plain = [ast.unparse(one) for one in stored if not isinstance(one, ast.Slice)]
    made = [n.targets[0] for n in ast.walk(kernel) if isinstance(n, ast.Assign)]
    names = [n.id for n in made if isinstance(n, ast.Name)]
    return (plain[-1:] or names[:1] or [a.arg for a in kernel.args.args][:1] or ["i"])[0]


def _fraction_for_index(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[i / 2]``, which is no whole number even where nothing is left over."""
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", finding.message)}
    for node in text.nodes if "here the index is a float" in finding.message else ():
        if not (isinstance(node, ast.Subscript) and node.lineno in lines):
            continue
        for part in ast.walk(node.slice):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                divided = operation(part.left, ast.FloorDiv(), part.right)
                cause = f"`{ast.unparse(part)}` is a float, also where it divides evenly, and an index is a whole number."
                yield Fact("fraction-for-index", part.lineno, cause, f"Write `{divided}`.")
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_loop_of_a_thread, frozenset({Status.TIMEOUT, Status.RACE})),
    (_edge_of_the_block, frozenset({Status.WRONG_OUTPUT})),
    (_own_forgotten, frozenset({Status.WRONG_OUTPUT})),
    (_out_renamed, frozenset({Status.UNINITIALISED})),
    (_slice, frozenset({Status.RAISED})),
    (_all_of_it, frozenset({Status.ILLEGAL_ACCESS, Status.TIMEOUT})),
    (_fraction_for_index, frozenset({Status.RAISED})),
)
