"""Python is parsed by one thread at a time.

Before 3.11.9 and 3.12.3 CPython counts the depth of all trees that are being made with one number. When a
thread is put off in the midst of its tree (a garbage collection may run Python) and another one parses
meanwhile, one of the two gets ``SystemError: AST constructor recursion depth mismatch``. Gradings are
threads. https://github.com/python/cpython/issues/106905
"""

from __future__ import annotations

import ast
import threading
from typing import Any, Literal, overload

_ONE_AT_A_TIME = threading.RLock()


@overload
def parse(source: str, filename: str = ..., mode: Literal["exec"] = ...) -> ast.Module: ...
@overload
def parse(source: str, filename: str = ..., *, mode: Literal["eval"]) -> ast.Expression: ...
def parse(source: str, filename: str = "<unknown>", mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """``ast.parse``, with its arguments and errors."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, filename, mode)  # noqa: TID251


def literal(source: str) -> Any:
    """``ast.literal_eval`` of a text, with its errors."""
    return ast.literal_eval(parse(source.lstrip(" \t"), mode="eval"))
