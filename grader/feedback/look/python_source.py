"""What a submission's Python says by its syntax tree: the names that are called, ways around the kernel."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.feedback.look.advice import Advice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.task import Task

BUILDERS = {"load_inline", "load", "RawModule", "RawKernel", "compile"}
PLACES = {"is_cuda", "is_available", "device"}  # words that ask where a tensor or a GPU is


@dataclass(frozen=True, slots=True)
class CudaText:
    """A string of CUDA C++, and where its characters stand in the file.

    ``line`` is that of its first character; ``exact`` says that each line of the string is one of the file.
    """

    source: str
    line: int
    exact: bool

    def at(self, offset: int) -> int:
        """The file's line of the character at ``offset``."""
        return self.line + self.source.count("\n", 0, offset) if self.exact else self.line


def look(tree: ast.Module, task: Task) -> list[Advice]:
    """Advice about the Python of a submission."""
    return [*_entries(tree, task), *_fallbacks(tree)]


def cuda_sources(tree: ast.Module) -> Iterator[CudaText]:
    """The strings that hold a kernel or a launch; of an f-string, its constant parts."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            words = [str(p.value) if isinstance(p, ast.Constant) else "0" for p in node.values]
            text = "".join(words)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        else:
            continue
        if "__global__" in text or "<<<" in text:
            lines = (node.end_lineno or node.lineno) - node.lineno
            yield CudaText(text, node.lineno, text.count("\n") == lines)


def cpp_sources(tree: ast.Module) -> Iterator[CudaText]:
    """The strings that hold C++, kernels or not: more than one line, with a function's body."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{" in node.value:
            text = node.value
            if ";" in text and "(" in text:
                lines = (node.end_lineno or node.lineno) - node.lineno
                yield CudaText(text, node.lineno, text.count("\n") == lines)


def line_of(source: str, name: str, *, result: bool = False) -> int:
    """The line that defines ``name`` at the top of a file, by the last definition; 0 if none does.

    ``result``: of a function the line of its `return`, if there is only one.
    """
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    line = 0
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            line = node.lineno
            returned = [n.lineno for n in ast.walk(node) if isinstance(n, ast.Return)]
            if result and len(returned) == 1:
                line = returned[0]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if name in {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}:
                line = node.lineno
    return line


def returns_of(source: str, name: str) -> list[int]:
    """The lines of all `return` with a value in the last function of that name at the top of a file."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    made = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    return [n.lineno for n in ast.walk(made[-1]) if isinstance(n, ast.Return) and n.value] if made else []


def line_of_key(source: str, name: str, key: str) -> int:
    """The line at the top that gives the dict ``name`` its ``key``, or of the dict; 0 if none is."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    made, given = 0, 0
    for node in tree.body:
        value = (
            node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr) else None
        )
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else targets
        if name in {t.id for t in targets if isinstance(t, ast.Name)} and value is not None:
            if not isinstance(node, ast.AugAssign):
                made, given = node.lineno, 0
            given = _key_in(value, key) or given
        elif any(_is_entry(t, name, key) for t in targets):
            given = node.lineno
        elif isinstance(value, ast.Call) and ast.unparse(value.func) == f"{name}.update":
            parts = [_key_in(part, key) for part in (value, *value.args)]
            given = max(parts) or given
    return given or made


def _is_entry(target: ast.expr, name: str, key: str) -> bool:
    """Whether it is ``name["key"]``."""
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id == name
        and isinstance(target.slice, ast.Constant)
        and target.slice.value == key
    )


def _key_in(value: ast.expr, key: str) -> int:
    """The line of ``"key": ...`` in a dict, or of ``key=...`` in a call; 0 if it has none."""
    keys = value.keys if isinstance(value, ast.Dict) else []
    lines = [k.lineno for k in keys if isinstance(k, ast.Constant) and k.value == key]
    words = value.keywords if isinstance(value, ast.Call) else []  # dict(key=...)
    lines += [word.value.lineno for word in words if word.arg == key]
    return lines[-1] if lines else 0


def line_of_entry(source: str, function: str, key: object) -> int:
    """The line of ``"key": ...`` in a dict, or of an ``if`` that asks for the key and returns; 0 for none."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    lines, compared = [0], list[int]()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function and isinstance(key, str):
            keys = [k for n in ast.walk(node) if isinstance(n, ast.Dict) for k in n.keys]
            lines += [k.lineno for k in keys if isinstance(k, ast.Constant) and k.value == key]
            ends = [n for n in ast.walk(node) if isinstance(n, ast.If) and isinstance(n.body[0], ast.Return)]
            asked = [one for n in ends if isinstance(n.test, ast.Compare) for one in ast.walk(n.test)]
            compared += [k.lineno for k in asked if isinstance(k, ast.Constant) and k.value == key]
    return compared[0] if lines == [0] and len(compared) == 1 else lines[-1]


def line_of_value(source: str, value: object) -> int:
    """The last line where ``value`` is a key of a dict or is compared with; 0 if there is none.

    Where the dict holds a function of the file for it, the line of that function.
    """
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    functions = {n.name: n.lineno for n in tree.body if isinstance(n, ast.FunctionDef)}
    found = [0]
    for node in ast.walk(tree):
        told: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            told = list(node.keys)
            for k, v in zip(node.keys, node.values, strict=True):
                if (
                    isinstance(k, ast.Constant)
                    and k.value == value
                    and isinstance(v, ast.Name)
                    and v.id in functions
                ):
                    return functions[v.id]
        elif isinstance(node, ast.Compare):
            told = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case) and isinstance(node.pattern, ast.MatchValue):
            told = [node.pattern.value]
        found += [k.lineno for k in told if isinstance(k, ast.Constant) and k.value == value]
    return max(found)


# Modules whose functions never fail a test, but those that have a word for it in their names.
HARMLESS = frozenset(
    [
        "torch",
        "math",
        "itertools",
        "functools",
        "random",
        "time",
        "typing",
        "__future__",
        "numpy",
        "collections",
    ]
)


BY_NAME = {"globals", "locals", "vars", "getattr", "eval", "exec"}


def never_fails(source: str, name: str) -> int:
    """The line of the function ``name`` if neither it nor what it calls asserts or raises; else 0."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    known = _bound(tree)
    seen, waiting = set[str](), [name]
    while waiting:
        if (word := waiting.pop()) in seen:
            continue
        seen.add(word)
        for node in (inner for one in known.get(word, ()) for inner in ast.walk(one)):
            if _may_raise(node):
                return 0
            if isinstance(node, ast.Name | ast.Attribute):
                waiting.append(node.id if isinstance(node, ast.Name) else node.attr)
    lines = [one.lineno for one in known.get(name, ()) if isinstance(one, ast.FunctionDef)]
    return lines[0] if lines else 0


def _bound(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """What a name may stand for: functions, classes, values and imports of the file."""
    known: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in (one for whole in targets for one in ast.walk(whole)):
                if isinstance(target, ast.Name):
                    known.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                known.setdefault((alias.asname or alias.name).split(".")[0], []).append(node)
    return known


def _may_raise(node: ast.AST) -> bool:
    """Whether this asserts or raises, or is something imported or named as if it did."""
    if isinstance(node, ast.Assert | ast.Raise):
        return True
    if isinstance(node, ast.ImportFrom):
        return (node.module or ".").split(".")[0] not in HARMLESS
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] not in HARMLESS for alias in node.names)
    used = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    if used in BY_NAME:  # what they find may do anything
        return True
    return bool(re.search(r"assert|raise|fail|exit", used))


def hands_back(source: str, name: str) -> int:
    """The line of a `return` with a value in the function ``name``; 0 if there is none."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            inner = {
                id(n)
                for one in ast.walk(node)
                if one is not node and isinstance(one, ast.FunctionDef | ast.Lambda)
                for n in ast.walk(one)
            }
            for one in ast.walk(node):
                constant = isinstance(one, ast.Return) and isinstance(one.value, ast.Constant)
                if isinstance(one, ast.Return) and one.value and id(one) not in inner and not constant:
                    return one.lineno
    return 0


@dataclass(frozen=True, slots=True)
class CallsInside:
    """The calls in a function: lines of names called, of keywords given to them, of its loops, and its own.

    ``looped``: the names that are called inside of a loop. ``around``: of names called in the head of a
    ``with``, those whose ``with`` has a loop in it. ``alone``: the names whose call is a whole statement, and
    its line. ``texts``: the first argument of each call, where it is a text. ``values``: what is given to
    keywords, and ``heads``: the calls in the head of a ``with``, both as they are written. ``bound``: the
    variable that has the result of a call. ``inside``: of names called in the head of a ``with``, the names
    called in its body, of all such ``with`` together. ``calls``: each name's first call as it is written.
    ``first``: the function's first parameter.
    """

    line: int
    names: dict[str, int]
    keywords: dict[tuple[str, str], int]
    loops: tuple[int, ...]
    looped: frozenset[str]
    around: frozenset[str] = frozenset()
    alone: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[tuple[str, str], str] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    inside: dict[str, frozenset[str]] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    first: str = ""


def calls_in(source: str, function: str) -> CallsInside | None:
    """What the last function of that name calls; None if there is none."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function]
    if not found:
        return None
    names: dict[str, int] = {}
    keywords: dict[tuple[str, str], int] = {}
    values: dict[tuple[str, str], str] = {}
    calls: dict[str, str] = {}
    for node in ast.walk(found[-1]):
        if isinstance(node, ast.Call) and (name := _last_name(node.func)):
            names.setdefault(name, node.lineno)
            if name not in calls:
                calls[name] = ast.unparse(node)
            keywords |= {(name, k.arg): k.value.lineno for k in node.keywords if k.arg}
            values |= {(name, k.arg): ast.unparse(k.value) for k in node.keywords if k.arg}
    loops = [n for n in ast.walk(found[-1]) if isinstance(n, ast.For | ast.While)]
    inside = [n for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Call)]
    looped = frozenset(_last_name(n.func) for n in inside)
    opened = [n for n in ast.walk(found[-1]) if isinstance(n, ast.With) and _loops(n)]
    around = frozenset(
        _last_name(i.context_expr.func)
        for n in opened
        for i in n.items
        if isinstance(i.context_expr, ast.Call)
    )
    heads = {
        _last_name(i.context_expr.func): ast.get_source_segment(source, i.context_expr) or ""
        for n in ast.walk(found[-1]) if isinstance(n, ast.With)
        for i in n.items if isinstance(i.context_expr, ast.Call)
    }  # fmt: skip
    bound = {_last_name(call.func): to.id for call, to in _bindings(found[-1])}
    alone, texts = dict[str, int](), dict[str, str]()
    for node in ast.walk(found[-1]):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            alone.setdefault(_last_name(node.value.func), node.lineno)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            texts.setdefault(_last_name(node.func), str(node.args[0].value))
    return CallsInside(
        found[-1].lineno,
        names,
        keywords,
        tuple(sorted(n.lineno for n in loops)),
        looped,
        around,
        alone,
        texts,
        values,
        heads,
        bound,
        _in_bodies(found[-1]),
        calls,
        given[0].arg if (given := [*found[-1].args.posonlyargs, *found[-1].args.args]) else "",
    )


def _in_bodies(function: ast.AST) -> dict[str, frozenset[str]]:
    """The names called in the bodies of each ``with``, by the names called in its head."""
    inside: dict[str, frozenset[str]] = {}
    for node in (n for n in ast.walk(function) if isinstance(n, ast.With)):
        called = frozenset(
            _last_name(n.func) for one in node.body for n in ast.walk(one) if isinstance(n, ast.Call)
        )
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                name = _last_name(item.context_expr.func)
                inside[name] = inside.get(name, frozenset()) | called
    return inside


def _bindings(function: ast.AST) -> Iterator[tuple[ast.Call, ast.Name]]:
    """Each ``name = f()`` and ``with f() as name``."""
    for node in ast.walk(function):
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.With):
            pairs = [(item.context_expr, item.optional_vars) for item in node.items]
        elif isinstance(node, ast.Assign):
            pairs = [(node.value, node.targets[0])]
        for call, to in pairs:
            if isinstance(call, ast.Call) and isinstance(to, ast.Name):
                yield call, to


def _loops(node: ast.With) -> bool:
    return any(isinstance(n, ast.For | ast.While) for n in ast.walk(node))


def first_use(source: str, name: str, parameter: int) -> int:
    """The first line of the function ``name`` that uses its parameter of this number; 0 if none does."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    lines = [0]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and len(node.args.args) > parameter:
            word = node.args.args[parameter].arg
            used = [n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Name)]
            lines = [n.lineno for n in used if n.id == word] or [0]
    return min(lines)


def guard(source: str, name: str) -> tuple[int, str] | None:
    """Line and condition of the function's only `if`; None if it has none, or several."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            asked = [n for n in ast.walk(node) if isinstance(n, ast.If)]
            return (asked[0].test.lineno, ast.unparse(asked[0].test)) if len(asked) == 1 else None
    return None


def attributes(tree: ast.Module) -> frozenset[str]:
    """Every ``.name`` that the Python asks for."""
    return frozenset(n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute))


def _entries(tree: ast.Module, task: Task) -> list[Advice]:
    defined: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif not isinstance(node, ast.Expr):  # a loop, a condition: it may define anything
            defined.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            defined.update(n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
    if defined & {"*", "globals", "vars", "exec"}:
        return []
    wanted = dict.fromkeys([task.entry, *(c.entry for c in task.cases if c.entry)])
    return [
        Advice(0, f"The grader calls {name}, which is not defined here.")
        for name in wanted
        if name not in defined
    ]


def _fallbacks(tree: ast.Module) -> Iterator[Advice]:
    """Where the file goes on without its kernel: after a failed build, or on a tensor of another device."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and _builds(node.body):
            for handler in node.handlers:
                if not any(isinstance(n, ast.Raise) for n in ast.walk(handler)):
                    yield Advice(
                        handler.lineno,
                        "When the build fails, the file goes on without its kernel, and the error is lost.",
                    )
        elif isinstance(node, ast.If) and _asks_for_the_place(node.test):
            for returned in _returns(node.body):
                if _torch_call(returned):
                    yield Advice(
                        returned.lineno, "On this path torch computes the result, and no kernel is launched."
                    )


def _builds(body: list[ast.stmt]) -> bool:
    calls = (n for statement in body for n in ast.walk(statement) if isinstance(n, ast.Call))
    return any(_last_name(call.func) in BUILDERS for call in calls)


def _asks_for_the_place(test: ast.expr) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in PLACES for n in ast.walk(test))


def _returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    for statement in body:
        yield from (n for n in ast.walk(statement) if isinstance(n, ast.Return))


def _torch_call(returned: ast.Return) -> bool:
    """Whether the value is made by ``torch.something(...)`` or by a matrix product."""
    for node in ast.walk(returned):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root: ast.expr = node.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in ("torch", "F"):
                return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return True
    return False


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
