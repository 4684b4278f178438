"""What the compilers of Triton and numba would refuse in a kernel, where their interpreters take any Python.

Only what is certain: a statement that neither compiler knows, and a name that neither takes, such as that of
a plain function of Python. Looked for before a kernel runs for the first time.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STATEMENTS = {
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.Try: "a try",
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "an async function",
}
# Builtins that no compiler of a kernel can have: they reach for the interpreter itself.
REACHING = {"__import__", "compile", "eval", "exec", "globals", "locals", "open", "setattr", "vars"}
FIELDS = {"data"}  # of a value's handle, which is an array in the interpreter alone
TRITON = ("triton",)
MODULES = ("triton", "copy", "math")  # whose functions Triton's compiler looks at by itself
MISSING = object()


class RefusedError(TypeError):
    """The kernel runs in an interpreter, and its compiler would refuse it."""


def triton_refuses(fn: Callable[..., Any]) -> str:
    """What Triton's compiler refuses first in a kernel or in a function of the file that it calls; or ""."""
    seen: set[int] = set()
    left = [fn]
    while left:
        one = left.pop()
        if id(one) in seen or not isinstance(one, FunctionType):
            continue
        seen.add(id(one))
        if (tree := _tree(one)) is None:
            continue
        for node, value, text in _used(one, tree):
            if _is_jit(value):
                left.append(value.fn)
            elif _is_plain(value) and not _of(value, MODULES):
                return _sentence(one, node.lineno, text, "Triton", "@triton.jit, or use triton.language")
        if found := _strange(one, tree, "Triton"):
            return found
    return ""


def numba_refuses(fn: Callable[..., Any]) -> str:
    """What numba's compiler refuses first in a kernel; or "". It takes some of numpy's functions."""
    if not isinstance(fn, FunctionType) or (tree := _tree(fn)) is None:
        return ""
    for node, value, text in _used(fn, tree):
        own = isinstance(value, FunctionType) and value.__globals__ is fn.__globals__
        if own and not _decorated(value):  # one that is may have been made known to numba
            return _sentence(fn, node.lineno, text, "numba", "@cuda.jit(device=True)")
    return _strange(fn, tree, "numba")


def _sentence(fn: FunctionType, line: int, name: str, whose: str, instead: str) -> str:
    return (
        f"line {fn.__code__.co_firstlineno + line - 1} uses {name} in the kernel {fn.__name__}: that is no "
        f"function of a kernel, and only an interpreter can call it there. {whose}'s compiler refuses it; "
        f"write a function with {instead}."
    )


def _strange(fn: FunctionType, tree: ast.FunctionDef, whose: str) -> str:
    """A statement or an attribute that no compiler takes."""
    local = _local(tree)
    for node in _within(tree):
        what = STATEMENTS.get(type(node), "")
        if isinstance(node, ast.Name) and node.id in REACHING - local and node.id not in fn.__globals__:
            what = f"{node.id}()"
        if isinstance(node, ast.Attribute) and node.attr in FIELDS and _ends(node.value, "handle"):
            what = f".handle.{node.attr}"
        if what:
            line = fn.__code__.co_firstlineno + node.lineno - 1  # type: ignore[attr-defined]
            return (
                f"line {line} has {what} in the kernel {fn.__name__}, which only an interpreter can run. "
                f"{whose}'s compiler refuses it."
            )
    return ""


def _ends(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _tree(fn: FunctionType) -> ast.FunctionDef | None:
    """The function as written, its first line being number 1; None where that is not known."""
    try:
        (found,) = ast.parse(textwrap.dedent(inspect.getsource(fn))).body
    except (OSError, SyntaxError, ValueError, TypeError):
        return None
    return found if isinstance(found, ast.FunctionDef) and found.name == fn.__name__ else None


def _within(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """All nodes of the body; not those of annotations and defaults."""
    for statement in tree.body:
        yield from ast.walk(statement)


def _local(tree: ast.FunctionDef) -> set[str]:
    given = {a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)}
    stored = {n.id for n in _within(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return given | stored


def _used(fn: FunctionType, tree: ast.FunctionDef) -> Iterator[tuple[ast.expr, Any, str]]:
    """What of outside is named in the body: node, value, text. Of ``a.b.c`` the whole."""
    local, known = _local(tree), fn.__globals__ | _closed_over(fn)
    inner: set[ast.AST] = set()
    for node in _within(tree):
        if node in inner or not isinstance(node, ast.Name | ast.Attribute):
            continue
        parts, root = list[str](), node
        while isinstance(root, ast.Attribute):
            parts.append(root.attr)
            root = root.value  # type: ignore[assignment]
            inner.add(root)
        if not isinstance(root, ast.Name) or root.id in local:
            continue
        value = known.get(root.id, MISSING)
        for part in reversed(parts):
            if value is MISSING or not isinstance(value, ModuleType | type) or _of(value, TRITON):
                value = MISSING  # a method of a value, or Triton's own
                break
            value = getattr(value, part, MISSING)
        if value is not MISSING:
            yield node, value, ast.unparse(node)


def _closed_over(fn: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet bound
            continue
    return found


def _of(value: Any, packages: tuple[str, ...]) -> bool:
    """Whether it belongs to one of these packages."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return str(name).split(".")[0] in packages or any(value is one for one in vars(builtins).values())


def _is_jit(value: Any) -> bool:
    return type(value).__name__ in ("InterpretedFunction", "JITFunction") and _of(type(value), TRITON)


def _is_plain(value: Any) -> bool:
    """A function that no compiler of kernels has seen; those of numpy's that are no functions, too."""
    if getattr(value, "__triton_builtin__", False):
        return False
    plain = isinstance(value, FunctionType | BuiltinFunctionType | MethodType)
    return plain or type(value).__name__ == "ufunc"


def _decorated(fn: FunctionType) -> bool:
    tree = _tree(fn)
    return tree is None or bool(tree.decorator_list)
