"""A kernel in Python that touches what is not there: a neighbour that nobody asked for, or an element before the guard.

Said is only what the numbers of the thread make certain: its index is worked out from the kernel's own statements.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.grid_guards import OneThread, UnknownError
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Evidence

SIDES = {-1: "the first element has no left neighbour", 1: "the last element has no right neighbour"}


class _Touched(NamedTuple):
    """The access that was refused: its node, its thread, that in words, its own element, and how many there are."""

    node: ast.Subscript
    thread: OneThread
    who: str
    own: int
    n: int
    limit: str


def _refused(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Why this thread touches this element."""
    kernel = _on_grid(text, finding)
    at = _touched(kernel, finding) if kernel else None
    if kernel is None or at is None:
        return
    if at.own >= at.n:
        yield from _does_nothing(kernel, at)
        yield from _one_too_far(kernel, at)
        yield from _asks_the_thread(kernel, at)
        yield from _before_the_guard(kernel, at)
    else:
        yield from _no_neighbour(kernel, at)


def neighbour(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Which neighbour does not exist that a thread touches which has an element of its own."""
    kernel = _on_grid(text, finding)
    at = _touched(kernel, finding) if kernel else None
    if kernel and at and at.own < at.n:
        yield from _no_neighbour(kernel, at)


def has_an_element(said: Evidence) -> bool:
    """Whether the thread whose access was refused has an element of its own."""
    ids, size, n = said.get("thread"), _whole(said.get("size")), _whole(said.get("n"))
    ids = [_whole(one) for one in ids] if isinstance(ids, list) else []
    return len(ids) == 2 and ids[0] * size + ids[1] < n


def _touched(kernel: ast.FunctionDef, finding: Finding) -> _Touched | None:
    """The access in the kernel's text, if its index can be worked out and is what was asked for."""
    said = finding.evidence
    size, n, index, ids = (
        _whole(said.get("size")),
        _whole(said.get("n")),
        said.get("index"),
        said.get("thread"),
    )
    given = [a.arg for a in kernel.args.args]
    ids = [one for one in ids if isinstance(one, int)] if isinstance(ids, list) else []
    if not n or len(given) < (6 if size else 3) or len(ids) != (2 if size else 1):
        return None
    numbers = [*ids, size, n] if size else ids
    own = ids[0] * size + ids[1] if size else ids[0]
    arrays = given[len(numbers)], given[len(numbers) + 1]
    thread = OneThread(dict(zip(given, numbers, strict=False)), arrays, n)
    _follow(kernel, thread)
    array = arrays[said.get("array") == "out"]
    for node in ast.walk(kernel):
        if not isinstance(node, ast.Subscript) or node.lineno != said.get("line"):
            continue
        if ast.unparse(node.value) == array and _value(thread, node.slice) == index:
            who = f"thread {ids[1]} of block {ids[0]}" if size else f"thread {ids[0]}"
            return _Touched(node, thread, who, own, n, given[3] if size else f"len({arrays[0]})")
    return None


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _follow(kernel: ast.FunctionDef, thread: OneThread) -> None:
    """Work out the names that get a value once."""
    stored: dict[str, int] = {}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored[node.id] = stored.get(node.id, 0) + 1
    made = [n for n in ast.walk(kernel) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    for name in stored:
        thread.known[name] = None
    for one in sorted(made, key=lambda n: n.lineno):
        target = one.targets[0]
        if isinstance(target, ast.Name) and stored[target.id] == 1 and len(one.targets) == 1:
            thread.known[target.id] = _value(thread, one.value)


def _value(thread: OneThread, node: ast.expr) -> int | None:
    try:
        return thread.value(node)
    except (UnknownError, RecursionError):
        return None


def _no_neighbour(kernel: ast.FunctionDef, at: _Touched) -> Iterator[Fact]:
    """``x[i - 1]`` in the first thread, ``x[i + 1]`` in the last."""
    where, index = at.node.slice, _value(at.thread, at.node.slice)
    shown, array = ast.unparse(at.node), ast.unparse(at.node.value)
    if index is None:
        return
    beside = isinstance(where, ast.BinOp) and isinstance(where.right, ast.Constant)
    left = where.left if isinstance(where, ast.BinOp) else where
    if not beside or _value(at.thread, left) != at.own:
        if at.n == 1 and index in (-1, 1):
            is_ = f"`{shown}` is {array}[{index}], which" if shown != f"{array}[{index}]" else f"`{shown}`"
            cause = (
                f"With one element in all, that of {at.who} is the first and the last: it has no neighbour, and "
                f"{is_} does not exist."
            )
            yield Fact("no-neighbour", at.node.lineno, cause, f"Read it only where `{at.limit} > 1`.")
        return
    step, i = index - at.own, ast.unparse(left)
    edge = SIDES.get(step, "there is no element so far beside its own")
    if at.n == 1 and step in SIDES:
        edge = "the only element has no neighbour"
    if step < 0:
        ask = f"{i} > 0" if step == -1 else f"{i} >= {-step}"
    else:
        ask = f"{i} < {at.limit} - {step}"
    is_ = f"In {at.who}, {i} is {at.own}, and `{shown}` is {array}[{index}], which does not exist: {edge}."
    asked = _asked(kernel, at)
    if asked is None:
        yield Fact("no-neighbour", at.node.lineno, is_, f"Read it only where `{ask}`.")
    elif not any(isinstance(n, ast.BoolOp) for n in ast.walk(asked)):
        let = f" `{ast.unparse(asked)}` is true there, and lets it read {array}[{index}]."
        yield Fact("no-neighbour", asked.lineno, f"{is_}{let}", f"Ask for `{ask}`.")


def _asked(kernel: ast.FunctionDef, at: _Touched) -> ast.expr | None:
    """The condition that is asked for this access alone: of the innermost branch, which stores nothing into out."""
    found: ast.expr | None = None
    end = at.node.end_col_offset or 0
    for node in ast.walk(kernel):  # from the outside to the inside
        if not isinstance(node, ast.If | ast.IfExp):
            continue
        body: list[ast.stmt] | list[ast.expr] = node.body if isinstance(node, ast.If) else [node.body]
        first, last = body[0], body[-1]
        begins = (first.lineno, first.col_offset) <= (at.node.lineno, at.node.col_offset)
        if begins and (at.node.lineno, end) <= (last.end_lineno or 0, last.end_col_offset or 0):
            alone = isinstance(node, ast.IfExp) or not at.thread.stores(*node.body)
            found = node.test if alone else None
    return found


def _does_nothing(kernel: ast.FunctionDef, at: _Touched) -> Iterator[Fact]:
    """``if i >= n: pass`` and ``if i < n: pass`` above the access."""
    for node in (n for n in ast.walk(kernel) if isinstance(n, ast.If)):
        true, last = _value(at.thread, node.test), node.body[-1]
        words = [_idle(one) for one in node.body]
        line, test = at.node.lineno, ast.unparse(node.test)
        if true is None or not all(words) or (last.end_lineno or 0) >= line or node.orelse:
            continue
        names = dict.fromkeys(n.id for n in ast.walk(node.test) if isinstance(n, ast.Name))
        values = " and ".join(f"{k} is {at.thread.known[k]}" for k in names if k in at.thread.known)
        shown = "print(...)" if words[-1].startswith("print(") else words[-1]
        if true:
            does = "prints, and that is all" if shown != words[-1] else "does nothing"
            cause = f"`{shown}` {does}: in {at.who}, {values}, so `{test}` is true, and the function goes on to line {line}."
            instead = f"write `return` {'below' if shown != words[-1] else 'in place of'} `{shown}`"
            yield Fact("guard-without-return", last.lineno, cause, f"Leave it there: {instead}.")
        elif shown == words[-1]:
            cause = f"Nothing stands in this `if` but `{shown}`: line {line} is outside of it, so {at.who} comes to it, where {values} and `{test}` is false."
            yield Fact(
                "guard-without-return",
                node.lineno,
                cause,
                f"Move line {line} into the `if`, in place of `{shown}`.",
            )
        return


def _idle(one: ast.stmt) -> str:
    """The text of a statement that a thread goes on from as if nothing had been: ``pass``, ``...``, ``i``; else ""."""
    match one:
        case ast.Pass() | ast.Expr(value=ast.Constant() | ast.Name()):
            return ast.unparse(one)
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return ast.unparse(one)
    return ""


def _one_too_far(kernel: ast.FunctionDef, at: _Touched) -> Iterator[Fact]:
    """``if i > n: return`` and ``if i <= n:``, which the thread passes whose number is n."""
    for node in ast.walk(kernel):
        if not isinstance(node, ast.If) or node.lineno > at.node.lineno or at.own != at.n:
            continue
        match node.test:
            case ast.Compare(left=ast.Name(id=i), ops=[ast.Gt()], comparators=[limit]):
                sign, passes = ">=", isinstance(node.body[-1], ast.Return) and "it does not leave"
            case ast.Compare(left=ast.Name(id=i), ops=[ast.LtE()], comparators=[limit]):
                inside = node.lineno <= at.node.lineno <= (node.body[-1].end_lineno or 0)
                sign, passes = "<", inside and "it goes in"
            case _:
                continue
        if passes and at.thread.known.get(i) == _value(at.thread, limit) == at.n:
            shown, is_ = ast.unparse(node.test), "false" if sign == ">=" else "true"
            cause = (
                f"The guard is one too far: in {at.who}, {i} is {at.n}, so `{shown}` is {is_} and {passes}."
            )
            yield Fact("guard-too-far", node.lineno, cause, f"Write `if {i} {sign} {ast.unparse(limit)}:`.")
            return


def _asks_the_thread(kernel: ast.FunctionDef, at: _Touched) -> Iterator[Fact]:
    """``if thread >= n: return`` and ``if thread < n:``, which every thread passes whose block is not larger than n."""
    given = [a.arg for a in kernel.args.args]
    if len(given) < 6:  # without blocks the thread's number is that of its element
        return
    for node in ast.walk(kernel):
        match node:
            case ast.If(test=ast.Compare(left=ast.Name(id=name), ops=[_], comparators=[limit])):
                pass
            case _:
                continue
        if name != given[1] or node.lineno > at.node.lineno or _value(at.thread, limit) != at.n:
            continue
        leaves = isinstance(node.body[-1], ast.Return)
        true = _value(at.thread, node.test)
        if true is None or bool(true) == leaves:
            continue
        plain = isinstance(at.node.slice, ast.Name) and _value(at.thread, at.node.slice) == at.own
        i = ast.unparse(at.node.slice) if plain else f"{given[0]} * {given[2]} + {given[1]}"
        cause = (
            f"This guard asks {name}, a number within the block: it is {at.thread.known[name]} in {at.who}, which is thread "
            f"number {at.own} of the grid, and the last element is number {at.n - 1}."
        )
        right = ">=" if leaves else "<"
        fix = f"Ask for the number of the element: `if {i} {right} {ast.unparse(limit)}:`."
        yield Fact("guard-of-the-thread", node.lineno, cause, fix)
        return


def _before_the_guard(kernel: ast.FunctionDef, at: _Touched) -> Iterator[Fact]:
    """``total = x[i]`` above ``if i < n:``."""
    line = at.node.lineno
    for node in sorted((n for n in ast.walk(kernel) if isinstance(n, ast.If)), key=lambda n: n.lineno):
        true = _value(at.thread, node.test)
        if node.lineno <= line or true is None:
            continue
        leaves = bool(true) and isinstance(node.body[-1], ast.Return)
        if not leaves and (true or not at.thread.stores(*node.body)):
            continue
        does = "reads" if isinstance(at.node.ctx, ast.Load) else "writes"
        names = dict.fromkeys(n.id for n in ast.walk(node.test) if isinstance(n, ast.Name))
        values = " and ".join(
            f"{k} is {at.thread.known[k]}" for k in names if at.thread.known.get(k) is not None
        )
        cause = (
            f"This line {does} `{ast.unparse(at.node)}` before line {node.lineno} asks `{ast.unparse(node.test)}`, "
            f"which is to keep {at.who} out: {values} there."
        )
        below = (
            f"below the `return` of line {node.body[-1].lineno}"
            if leaves
            else f"into the `if` of line {node.lineno}"
        )
        yield Fact("before-the-guard", line, cause, f"Move it {below}.")
        return


def _wraps_round(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[(i - 1) % n]``, which is the last element in the first thread."""
    said = finding.evidence
    size, n, own = _whole(said.get("size")), _whole(said.get("n")), _whole(said.get("index"))
    stray = re.search(r"\b\w+\[(\d+)\] does not belong to \w+\[\d+\]", finding.message)
    kernel = _on_grid(text, finding)
    if kernel is None or stray is None or not n or len(kernel.args.args) < (6 if size else 3):
        return
    thread, who = _of_element(kernel, own, size, n)
    stored: dict[str, list[ast.expr]] = {}
    for one in (m for m in ast.walk(kernel) if isinstance(m, ast.Assign)):
        if isinstance(one.targets[0], ast.Name):
            stored.setdefault(one.targets[0].id, []).append(one.value)
    found = []
    for node in (m for m in ast.walk(kernel) if isinstance(m, ast.Subscript)):
        where = node.slice
        if isinstance(where, ast.Name):
            made = stored.get(where.id, [])
            where = made[0] if len(made) == 1 else where
        match where:
            case ast.BinOp(left=inner, op=ast.Mod(), right=limit) if _value(thread, limit) == n:
                found.append((node.lineno, where.lineno, inner, ast.unparse(limit), _value(thread, where)))
    for read, line, inner, whole, index in found:
        before = _value(thread, inner)
        if read != said.get("line") or index != int(stray[1]) or before is None or 0 <= before < n:
            continue
        lacks = SIDES.get(before - own, "there is no element so far beside its own")
        cause = (
            f"In {who}, `{ast.unparse(inner)}` is {before}, and `% {whole}` wraps it round to the other end, to element {index}; "
            f"but {lacks}."
        )
        ask = f"0 <= {ast.unparse(inner)} < {whole}"
        fix = f"Leave `% {whole}` away, and read the element only where there is one: `{ask}`."
        if other := sorted({one[1] for one in found} - {line}):
            fix += f" The same in line{'s' if len(other) > 1 else ''} {' and '.join(map(str, other))}."
        yield Fact("wraps-round", line, cause, fix)
        return


def _on_grid(text: SubmissionText, finding: Finding) -> ast.FunctionDef | None:
    name = finding.evidence.get("on_grid")
    functions = [f for f in text.tree.body if isinstance(f, ast.FunctionDef)] if text.tree else []
    return next((f for f in functions if f.name == name), None)


def _of_element(kernel: ast.FunctionDef, own: int, size: int, n: int) -> tuple[OneThread, str]:
    """The thread that an element belongs to, with its names worked out, and that in words."""
    numbers = [*divmod(own, size), size, n] if size else [own]
    given = [a.arg for a in kernel.args.args]
    thread = OneThread(
        dict(zip(given, numbers, strict=False)), (given[len(numbers)], given[len(numbers) + 1]), n
    )
    _follow(kernel, thread)
    return thread, f"thread {numbers[1]} of block {numbers[0]}" if size else f"thread {own}"


def _loops_past_its_own(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for j in range(i, n, size): out[j] = ...``: a thread that goes on to the elements of others."""
    said, kernel = finding.evidence, _on_grid(text, finding)
    size, n, index, ids = (
        _whole(said.get("size")),
        _whole(said.get("n")),
        said.get("index"),
        said.get("threads"),
    )
    if kernel is None or not n or not isinstance(index, int) or not isinstance(ids, list):
        return
    if len(kernel.args.args) < (6 if size else 3):
        return
    given = [a.arg for a in kernel.args.args]
    others = [
        one
        for one in ids
        if isinstance(one, list) and one != (list(divmod(index, size)) if size else [index])
    ]
    out = given[5 if size else 2]
    for loop in (m for m in ast.walk(kernel) if isinstance(m, ast.For | ast.While)):
        stored = [m for m in ast.walk(loop) if isinstance(m, ast.Subscript) and isinstance(m.ctx, ast.Store)
                  and isinstance(m.slice, ast.Name) and ast.unparse(m.value) == out]  # fmt: skip
        step = next((found for m in stored if (found := _step(loop, ast.unparse(m.slice)))), "")
        if not (stored and step and others) or stored[0].lineno != said.get("line"):
            continue
        j = ast.unparse(stored[0].slice)
        who = f"thread {others[0][1]} of block {others[0][0]}" if size else f"thread {others[0][0]}"
        owner = f"thread {index % size} of block {index // size}" if size else f"thread {index}"
        steps = f"in steps of `{step}`" + (", one block," if size and step == given[2] else "")
        cause = (
            f"Each thread runs this loop, and goes on in it {steps} to further elements, which have threads of their "
            f"own: {who} comes to {out}[{index}], which belongs to {owner}."
        )
        right = f"{given[0]} * {given[2]} + {given[1]}" if size else given[0]
        limit = given[3] if size else f"len({out})"
        has = (
            f"`{j} = {right}`, and `if {j} < {limit}:` around the store"
            if j != right
            else f"`if {j} < {limit}:`"
        )
        yield Fact("loops-past-its-own", loop.lineno, cause,
                   f"A thread has one element here, so it takes no loop over them: write {has}.")  # fmt: skip
        return


def _step(loop: ast.For | ast.While, name: str) -> str:
    """By how much a loop's index goes on from one turn to the next; "" if that is not told."""
    match loop:
        case ast.For(target=ast.Name(id=index), iter=ast.Call(func=ast.Name(id="range"), args=given)) if (
            index == name
        ):
            return ast.unparse(given[2]) if len(given) == 3 else "1"
        case ast.While(body=body):
            added = [m for m in body if isinstance(m, ast.AugAssign) and isinstance(m.op, ast.Add)]
            return next((ast.unparse(m.value) for m in added if ast.unparse(m.target) == name), "")
    return ""


def _loop_around(tree: ast.Module | None, inner: ast.stmt) -> ast.For | ast.While | None:
    """The outermost loop of a function that a statement stands in; None if it stands in none."""
    for function in ast.walk(tree) if tree else ():
        if isinstance(function, ast.FunctionDef) and any(node is inner for node in ast.walk(function)):
            for node in ast.walk(function):  # from the outside to the inside
                if isinstance(node, ast.For | ast.While) and any(one is inner for one in ast.walk(node)):
                    return node
    return None


def _added_to_nothing(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``out[i] += ...`` in a kernel whose out holds nothing yet."""
    said = re.match(r"Line (\d+): .* reads (\w+)\[\d+\], and nobody has written", finding.message)
    places = {
        ast.unparse(node.target)
        for node in (text.nodes if said else ())
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript)
        if said and ast.unparse(node.target.value) == said[2]
    }
    for node in text.nodes if said else ():
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript) and said:
            target = ast.unparse(node.target)
            if node.lineno == int(said[1]) and ast.unparse(node.target.value) == said[2]:
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}.get(type(node.op), "+")
                cause = f"`{target} {sign}= ...` reads {target} before it writes it, and nothing has been written there yet."
                fix = f"Write `{target} = {ast.unparse(node.value)}`."
                alike = [
                    one.lineno
                    for one in text.nodes
                    if isinstance(one, ast.AugAssign) and ast.unparse(one.target) == target
                ]
                if len(alike) > 1:
                    fix = f"Put `{target} = 0` above line {min(alike)}, the first that adds to it, and outside of any `if`."
                if loop := _loop_around(text.tree, node):
                    fix = (
                        f"Put `{target} = 0` before the loop of line {loop.lineno}, or add up in a variable of its own there "
                        f"and store it in {target} after the loop."
                    )
                    if not isinstance(node.op, ast.Add | ast.Sub):
                        fix = fix.replace(" = 0`", " = 1`").replace("add up", "multiply")
                if len(places) > 1:  # then several threads would write one element
                    fix = (
                        f"Let each thread write one element of {said[2]}, once: read what belongs into it, and add that "
                        "up in a variable."
                    )
                yield Fact("added-to-nothing", node.lineno, cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_refused, frozenset({Status.ILLEGAL_ACCESS})),
    (_wraps_round, frozenset({Status.WRONG_OUTPUT})),
    (_loops_past_its_own, frozenset({Status.RACE})),
    (_added_to_nothing, frozenset({Status.UNINITIALISED})),
)
