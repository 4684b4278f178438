"""Facts about single steps of Python that do something else than they seem to: a clamped index, a `return` in a loop; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import grid_reads
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_GRID = 4  # block, thread, size, n: what a kernel in Python gets first
RAISED_AT = re.compile(r"\.py, line (\d+): ")


def kernel_in_python(text: SubmissionText, finding: Finding) -> tuple[ast.FunctionDef, list[str]] | None:
    """The kernel on a grid of blocks that the finding is about, and its parameters."""
    name = finding.evidence.get("on_grid")
    kernel = next((f for f in text.top_functions if f.name == name), None)
    names = [a.arg for a in kernel.args.args] if kernel else []
    return (kernel, names) if kernel and len(names) > ON_GRID + 1 and finding.evidence.get("size") else None


def _parameters_exchanged(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``def scale_blocks(thread, block, ...)``, which gets the block first."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    if kernel and names[:2] == ["thread", "block"]:
        yield Fact(
            "parameters-exchanged", kernel.lineno,
            f"{kernel.name} gets the number of the block first and that of the thread second. This line has the names the other way round, so `thread` is the block's number here.",
            f"Write `def {kernel.name}({', '.join(['block', 'thread', *names[2:]])}):`, as it was.")  # fmt: skip


def _own_index(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``i = min(block * size + thread, n - 1)``, ``i = (...) % n``, ``i = block * n + thread``."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    if kernel is None:
        return
    block, thread, size, n = names[:ON_GRID]
    right = f"{block} * {size} + {thread}"
    for node in ast.walk(kernel):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        own, shown = node.targets[0].id, text.quoted(node.value)
        if not re.search(rf"\bout\[{own}\]\s*(?:[-+*/]?=)(?!=)", ast.unparse(kernel)):
            continue
        match node.value:
            case ast.Call(func=ast.Name(id="min"), args=[_, _]) if f"{n} - 1" in map(
                ast.unparse, node.value.args
            ):
                given = f"the last element, {n} - 1,"
            case ast.BinOp(op=ast.Mod(), right=ast.Name(id=name)) if name == n:
                given = "an element from the beginning once more,"
            case ast.BinOp(left=ast.BinOp(left=ast.Name(id=first), op=ast.Mult(), right=other)) if (
                first == block and _no_size(other, names)
            ):
                what = ast.unparse(other)
                yield Fact(
                    "another-size", node.lineno,
                    f"A block has {size} threads, so {block} * {size} elements lie before this thread's block; `{first} * {what}` counts {what} for each block.",
                    f"Write `{own} = {right}`.")  # fmt: skip
                return
            case _:
                continue
        yield Fact(
            "shared-element", node.lineno,
            f"`{shown}` gives a thread past the end {given} which another thread has already: both of them write it.",
            f"A thread without an element does nothing: write `{own} = {right}`, and ask `if {own} < {n}:` before the read and the write.")  # fmt: skip
        return


def _no_size(node: ast.expr, names: list[str]) -> bool:
    """Whether a number of elements for a block is surely not the size of a block: a call, or another parameter."""
    return isinstance(node, ast.Call) or (
        isinstance(node, ast.Name) and node.id in (names[0], names[1], names[3])
    )


def _last_asked_as_n(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``elif i == n:`` for the last element."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    n = names[3] if kernel else ""
    for node in ast.walk(kernel) if kernel else ():
        match node:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=i), ops=[ast.Eq()], comparators=[ast.Name(id=other)])
            ):
                if other == n:
                    yield Fact(
                        "no-such-element", node.lineno,
                        f"{n} elements are numbered from 0 to {n} - 1, so `{i} == {n}` is true for none of them, and the last one is not met here.",
                        f"The last element is `{i} == {n} - 1`.")  # fmt: skip


def _left_in_the_loop(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A `return` below what a loop collects, indented as deep as that."""
    for function in text.top_functions:
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.For | ast.While)):
            last = loop.body[-1]
            before = loop.body[:-1]
            collects = any(
                isinstance(n, ast.AugAssign)
                or (isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("append", "add"))
                for one in before for n in ast.walk(one))  # fmt: skip
            goes_on = any(isinstance(n, ast.Continue) for one in before for n in ast.walk(one))
            if isinstance(last, ast.Return) and last.value and collects and not goes_on:
                yield Fact(
                    "return-in-loop", last.lineno,
                    f"By its indentation this `return` belongs to the loop of line {loop.lineno}: {function.name} ends in the loop's first turn, and there is no second.",
                    f"Indent it as far as line {loop.lineno}, so that it comes after the loop.")  # fmt: skip


def _events_subtracted(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``end - start`` of two events."""
    at = RAISED_AT.search(finding.message)
    if text.tree is None or at is None or "for -: 'Event' and 'Event'" not in finding.message:
        return
    for node in text.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and node.lineno == int(at[1]):
            later, earlier = ast.unparse(node.left), ast.unparse(node.right)
            yield Fact(
                "events-subtracted", node.lineno,
                "An event is a mark in a stream and not a number, so one cannot be taken from the other.",
                f"Ask the first of them how long it was to the second: `{earlier}.elapsed_time({later})`, in milliseconds.")  # fmt: skip
            return


def _percent_for_a_share(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.quantile(t, 10)``."""
    said = re.search(r"[Qq]uantiles? ?(?:\(\) q )?must be in the range \[0, 1\]", finding.message)
    for node in text.nodes if said else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "quantile"
        ):
            for one in node.args:
                if isinstance(one, ast.Constant) and isinstance(one.value, int | float) and one.value > 1:
                    yield Fact(
                        "percent-for-a-share", node.lineno,
                        f"quantile takes a share from 0 to 1, and {one.value} is a percentage: the {one.value}th percentile is {one.value / 100:g}.",
                        f"Write {one.value / 100:g} in place of {one.value}, and the same for the others of this line.")  # fmt: skip
                    return


def _cuts_unpacked(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``p10, median, p90 = statistics.quantiles(seconds, n=10)``, which are nine."""
    if "values to unpack" not in finding.message:
        return
    for node in text.nodes:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=called, keywords=given)):
                parts = next(
                    (k.value.value for k in given if k.arg == "n" and isinstance(k.value, ast.Constant)), 4
                )
                plain = not any(isinstance(one, ast.Starred) for one in names)
                if (
                    ast.unparse(called).endswith("quantiles")
                    and isinstance(parts, int)
                    and plain
                    and len(names) != parts - 1
                ):
                    yield Fact(
                        "cuts-unpacked", node.lineno,
                        f"quantiles(..., n={parts}) gives the {parts - 1} cuts between {parts} parts, and here stand {len(names)} names for them.",
                        "Keep them in one list, `cuts = ...`, and take what is needed: `cuts[0]` is the first, `cuts[-1]` the last.")  # fmt: skip


def _deviation(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``median - stdev`` for a percentile."""
    if not re.search(r"\bp[19]0 is\b", finding.message):
        return
    for function in text.top_functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and re.fullmatch(
                r"(?:statistics\.)?p?stdev|(?:np|numpy|torch)\.std", ast.unparse(node.func)
            ):
                yield Fact(
                    "deviation-for-percentile", node.lineno,
                    f"`{ast.unparse(node.func)}` says how far the times lie from their mean, and a single slow call makes it large; the 10th percentile is the time that a tenth of the calls stay below.",
                    "Take p10 and p90 from `cuts = statistics.quantiles(seconds, n=10)`: the first and the last of the cuts.")  # fmt: skip
                return


def _another_stream(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``start.record(torch.cuda.Stream())``."""
    for function in text.top_functions:
        made = {ast.unparse(n.targets[0]) for n in ast.walk(function)
                if isinstance(n, ast.Assign) and re.match(r"(?:torch\.cuda\.)?Stream\(", ast.unparse(n.value))}  # fmt: skip
        entered = {
            ast.unparse(one.context_expr)
            for n in ast.walk(function)
            if isinstance(n, ast.With)
            for one in n.items
        }
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(value=event, attr="record"), args=[given]):
                    stream = ast.unparse(given)
                    here = any(re.search(rf"\b{re.escape(stream)}\b", one) for one in entered)
                    if not here and (stream in made or re.match(r"(?:torch\.cuda\.)?Stream\(", stream)):
                        yield Fact(
                            "event-elsewhere", node.lineno,
                            f"`{stream}` is a new stream, in which the call that is timed does not run: the device passes this event there without waiting for it.",
                            f"Record it in the current stream, where the call runs: `{ast.unparse(event)}.record()`.")  # fmt: skip


def _counted_past_the_end(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``len(range(0, n + 1, size))``: as many steps as begin below n, and one more where it divides evenly."""
    for function in text.top_functions:
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Name(id="range"), args=[
                    ast.Constant(value=0), ast.BinOp(left=ast.Name(id=n), op=ast.Add(), right=ast.Constant(value=1)), step])]):  # fmt: skip
                    if re.search(rf"\b{function.name}\(", finding.message):
                        yield Fact(
                            "range-too-long", node.lineno,
                            f"range leaves its end out, and {n} elements are numbered 0 to {n} - 1: with `{n} + 1` a block is counted for number {n} as well, which no element has.",
                            f"Write `len(range(0, {n}, {ast.unparse(step)}))`.")  # fmt: skip


def _rest_added(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``q, r = divmod(n, size)``, then ``q + r``."""
    for function in text.top_functions:
        pairs = {}
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=q), ast.Name(id=r)])],
                                value=ast.Call(func=ast.Name(id="divmod"), args=[n, size])):  # fmt: skip
                    pairs[q, r] = ast.unparse(n), ast.unparse(size)
        for node in ast.walk(function):
            match node:
                case ast.Return(value=ast.BinOp(left=ast.Name(id=q), op=ast.Add(), right=ast.Name(id=r))):
                    if (q, r) in pairs and re.search(rf"\b{function.name}\(", finding.message):
                        n, size = pairs[q, r]  # type: ignore[assignment]
                        yield Fact(
                            "rest-added", node.lineno,
                            f"{r} is how many of {n} are left over when {q} times {size} are taken away: they need one more block together, not one for each.",
                            f"Write `{q} + (1 if {r} else 0)`.")  # fmt: skip


CATCHES = {"IndexError", "LookupError", "Exception", "BaseException"}


def _caught_too_late(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``try: out[i] = ...`` with ``except IndexError`` in place of a guard."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    line, said = finding.evidence.get("line"), finding.evidence
    for node in ast.walk(kernel) if kernel else ():
        if not isinstance(node, ast.Try | ast.With) or not (word := _catches(node)):
            continue
        if any(line in range(n.lineno, (n.end_lineno or 0) + 1) for n in node.body):
            cause = f"`{word}` comes too late: a GPU raises no IndexError. The access is made, and the grader counts it."
            fix = f"Ask before the access whether the element exists: `if i < {names[3]}:`, with the number of the thread's element for i."
            if near := next(grid_reads.neighbour(text, finding), None):
                asked = re.sub(r"^(?:Ask for|Read it only where)", "read it only where", near.fix)
                cause, fix = f"{cause} {near.cause}", f"Ask before the access: {asked}"
            elif grid_reads.has_an_element(said):
                fix = f"Ask before the access whether this element exists: its number must be at least 0 and below {names[3]}."
            yield Fact("caught-too-late", node.lineno, cause, fix)
            return


def _catches(node: ast.Try | ast.With) -> str:
    """``try`` or ``suppress`` where an IndexError is caught; else ""."""
    kinds: list[ast.expr | None] = []
    word = "try"
    if isinstance(node, ast.Try):
        kinds = [h.type for h in node.handlers]
    else:
        calls = [i.context_expr for i in node.items if isinstance(i.context_expr, ast.Call)]
        kinds = [a for c in calls if ast.unparse(c.func).endswith("suppress") for a in c.args]
        word = "suppress"
    each = [one for kind in kinds for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    return word if any(one is None or ast.unparse(one) in CATCHES for one in each) else ""


def _calls_itself(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``def scale(x): return scale(x)``, where the extension's function is meant."""
    modules = [ast.unparse(n.targets[0]) for n in ast.walk(text.tree or ast.Module([], []))
               if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and ast.unparse(n.value.func).endswith("load_inline")]  # fmt: skip
    at = RAISED_AT.search(finding.message)
    for function in (
        text.top_functions if at and "RecursionError" in finding.message and len(modules) == 1 else ()
    ):
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == function.name
                and at
                and node.lineno == int(at[1])
            ):
                yield Fact(
                    "calls-itself", node.lineno,
                    f"{function.name} means the Python function of line {function.lineno} here, so it calls itself, again and again, and never the function of the extension.",
                    f"Say whose function it is: `{modules[0]}.{ast.unparse(node)}`.")  # fmt: skip


def _turned_condition(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``n // size + (not n % size)``."""
    for function in text.top_functions:
        for node in ast.walk(function):
            match node:
                case ast.BinOp(
                    op=ast.Add(),
                    left=left,
                    right=ast.UnaryOp(op=ast.Not(), operand=ast.BinOp(op=ast.Mod()) as rest),
                ):
                    if re.search(rf"\b{function.name}\(", finding.message):
                        yield Fact(
                            "turned-condition", node.lineno,
                            f"`not {ast.unparse(rest)}` is true, and counts as 1, where nothing is left over: one is added just where it must not be.",
                            f"Write `{ast.unparse(left)} + ({ast.unparse(rest)} != 0)`.")  # fmt: skip


RACES = frozenset({Status.RACE, Status.UNINITIALISED, Status.WRONG_OUTPUT, Status.ILLEGAL_ACCESS})
FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_parameters_exchanged, RACES),
    (_own_index, frozenset({Status.RACE})),
    (_last_asked_as_n, OUTSIDE | WRONG),
    (_left_in_the_loop, frozenset({Status.RAISED, Status.WRONG_ANSWER})),
    (_events_subtracted, frozenset({Status.RAISED})),
    (_percent_for_a_share, frozenset({Status.RAISED})),
    (_cuts_unpacked, frozenset({Status.RAISED})),
    (_another_stream, frozenset({Status.WRONG_ANSWER})),
    (_caught_too_late, frozenset({Status.ILLEGAL_ACCESS})),
    (_calls_itself, frozenset({Status.RAISED})),
    (_turned_condition, frozenset({Status.WRONG_ANSWER})),
    (_deviation, frozenset({Status.WRONG_ANSWER})),
    (_counted_past_the_end, frozenset({Status.WRONG_ANSWER})),
    (_rest_added, frozenset({Status.WRONG_ANSWER})),
)
