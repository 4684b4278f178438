"""Which condition of a kernel in Python keeps the thread from writing whose element is missing.

The kernel is followed for that one thread, with the numbers that it was given, as far as conditions rest on whole
numbers alone. Where they do not, nothing is said.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Known = dict[str, int | None]
SIGNS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
LARGE = 1 << 40


class UnknownError(Exception):
    """What a condition rests on is not known here."""


class OneThread:
    """One thread on its way through a kernel; ``stopped``: the conditions that kept it from a store."""

    def __init__(self, known: Known, arrays: tuple[str, str], n: int) -> None:
        self.known, (self.x, self.out), self.n = known, arrays, n
        self.stopped: list[tuple[ast.If, bool]] = []

    def run(self, body: list[ast.stmt]) -> bool:
        """Whether the thread leaves the kernel here; UnknownError where it writes, or nobody knows."""
        for one in body:
            if isinstance(one, ast.Return):
                return True
            if isinstance(one, ast.If):
                if self._branch(one):
                    return True
            elif isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self._assign(one)
            elif not isinstance(one, ast.Expr | ast.Pass) or self.stores(one):
                raise UnknownError
        return False

    def _branch(self, one: ast.If) -> bool:
        taken = bool(self.value(one.test))
        left = self.run(one.body if taken else one.orelse)
        if (left and taken) or (not taken and self.stores(*one.body)):
            self.stopped.append((one, taken))
        return left

    def _assign(self, one: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        if self.stores(one):
            raise UnknownError
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        value: int | None = None
        plain = isinstance(one, ast.Assign) and len(targets) == 1 and isinstance(targets[0], ast.Name)
        if plain and isinstance(one, ast.Assign):
            try:
                value = self.value(one.value)
            except UnknownError:
                value = None
        for name in (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
            self.known[name.id] = value

    def stores(self, *parts: ast.stmt) -> bool:
        """Whether something in these statements stores into ``out``, or hands it over."""
        nodes = [n for part in parts for n in ast.walk(part)]
        return any(isinstance(n, ast.Name) and n.id == self.out for n in nodes)

    def value(self, node: ast.expr) -> int:
        """A whole number, or the truth of a condition."""
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.Name(id=name) if self.known.get(name) is not None:
                return int(self.known[name] or 0)
            case ast.BinOp(left=left, op=sign, right=right):
                return self._sign(sign, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.value(inner)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not self.value(inner)
            case ast.BoolOp(op=sign, values=values):
                some = [bool(self.value(one)) for one in values]
                return all(some) if isinstance(sign, ast.And) else any(some)
            case ast.Compare(left=first, ops=signs, comparators=others):
                numbers = [self.value(one) for one in (first, *others)]
                return all(self._sign(s, a, b) for s, a, b in zip(signs, numbers, numbers[1:], strict=False))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in (self.x, self.out):
                return self.n
            case ast.Call(func=ast.Name(id="min" | "max" as which), args=given) if given:
                numbers = [self.value(one) for one in given]
                return min(numbers) if which == "min" else max(numbers)
        raise UnknownError

    @staticmethod
    def _sign(sign: ast.AST, a: int, b: int) -> int:
        made = SIGNS.get(type(sign))
        if (
            made is None
            or (b == 0 and isinstance(sign, ast.FloorDiv | ast.Mod))
            or max(abs(a), abs(b)) > LARGE
        ):
            raise UnknownError
        return made(a, b)


def _kept_out(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A condition that is false for a thread with an element of its own, or by which it leaves."""
    name, index = finding.evidence.get("on_grid"), finding.evidence.get("index")
    size, n = finding.evidence.get("size"), finding.evidence.get("n")
    functions = [f for f in text.tree.body if isinstance(f, ast.FunctionDef)] if text.tree else []
    kernel = next((f for f in functions if f.name == name), None)
    if kernel is None or not isinstance(index, int) or not isinstance(size, int) or not isinstance(n, int):
        return
    given = [a.arg for a in kernel.args.args]
    numbers = [*divmod(index, size), size, n] if size else [index]
    if len(given) < len(numbers) + 2:
        return
    arrays = given[len(numbers)], given[len(numbers) + 1]
    thread = OneThread(dict(zip(given, numbers, strict=False)), arrays, n)
    try:
        thread.run(kernel.body)
    except (UnknownError, RecursionError):
        return
    stopped = sorted(thread.stopped, key=lambda one: one[0].lineno)
    if not stopped or len({taken for _, taken in stopped}) > 1:
        return
    who = f"thread {numbers[1]} of block {numbers[0]}" if size else f"thread {index}"
    own = _own(kernel, thread) if size else given[0]
    if thread.known.get(own) == index:
        yield _told(thread, stopped, who, own, given[3] if size else "", index)
    elif made := _assigned(kernel, own):
        # Where the number itself is wrong, it is the mistake and not the guard.
        cause = (
            f"`{ast.unparse(made.value)}` gives {thread.known.get(own)} in {who}, and must come out as {index}, "
            "the number of its element."
        )
        fix = f"A thread's number in the grid is {given[0]} * {given[2]} + {given[1]}."
        yield Fact("number-of-another", made.lineno, cause, fix)


def _own(kernel: ast.FunctionDef, thread: OneThread) -> str:
    """The name by which the kernel stores into ``out``; "" if it is no name with a known value, or several."""
    stored = {
        ast.unparse(n.slice)
        for n in ast.walk(kernel)
        if isinstance(n, ast.Subscript)
        and isinstance(n.ctx, ast.Store)
        and ast.unparse(n.value) == thread.out
    }
    name = stored.pop() if len(stored) == 1 else ""
    return name if thread.known.get(name) is not None else ""


def _assigned(kernel: ast.FunctionDef, name: str) -> ast.Assign | None:
    """The one statement that gives a name its value."""
    found = [n for n in ast.walk(kernel) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name]
    return found[0] if len(found) == 1 else None


def _told(
    thread: OneThread, stopped: list[tuple[ast.If, bool]], who: str, own: str, limit: str, index: int
) -> Fact:
    """The conditions, and what to ask for in their place; without ``limit`` there are no blocks."""
    last, taken = stopped[-1]  # of `if` and `elif`, the one that is asked last
    tests = [one.test for one, _ in stopped]
    used = dict.fromkeys(m for test in tests for m in re.findall(r"[A-Za-z_]\w*", ast.unparse(test)))
    values = " and ".join(f"{k} is {thread.known[k]}" for k in used if thread.known.get(k) is not None)
    said = " and ".join(f"`{ast.unparse(test)}`" for test in tests)
    is_ = f"{'is' if len(tests) == 1 else 'are'} {'true' if taken else 'false'}"
    does = "it leaves" if taken else "it writes nothing"
    because = f"{values}, so {said}" if values else said
    cause = f"In {who}, {because} {is_} and {does}, though {thread.out}[{index}] is its element."
    reads = [n for part in last.body for n in ast.walk(part) if isinstance(n, ast.Subscript) and not taken
             and ast.unparse(n.value) == thread.x and ast.unparse(n.slice) != own]  # fmt: skip
    if not limit:
        fix = "Each thread has an element here, so none is to be kept out."
    elif taken:
        fix = f"Only threads without an element may leave: `{own} >= {limit}`."
    else:
        beside = ", and guard the read of each neighbour on its own" if reads else ""
        fix = f"Each thread whose {own} is below {limit} has an element: ask for `{own} < {limit}`{beside}."
    return Fact("thread-kept-out", last.test.lineno, cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_kept_out, frozenset({Status.UNINITIALISED})),)
