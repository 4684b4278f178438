"""What PyTorch's flags take from ``__half`` and its relatives: operators, and conversions from and to float.

``load_inline`` and ``load`` have nvcc compile with ``-D__CUDA_NO_HALF_OPERATORS__`` and three flags like it.
Here the operators are always there. So where a variable is declared as one of these types by name, in the
same function, what nvcc would not find is an error in its words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, following, previous

if TYPE_CHECKING:
    from collections.abc import Iterable

HALF, HALF2, BFLOAT16 = ("__half", "half"), ("__half2", "half2"), ("__nv_bfloat16", "nv_bfloat16")
TYPES = {name: names[0] for names in (HALF, HALF2, BFLOAT16) for name in names}
OPERATORS = {HALF[0]: "__CUDA_NO_HALF_OPERATORS__", HALF2[0]: "__CUDA_NO_HALF2_OPERATORS__"}
CONVERSIONS = {HALF[0]: "__CUDA_NO_HALF_CONVERSIONS__", BFLOAT16[0]: "__CUDA_NO_BFLOAT16_CONVERSIONS__"}
ALL = frozenset((*OPERATORS.values(), *CONVERSIONS.values()))
GIVE_BACK = tuple(sorted(f"-U{flag}" for flag in ALL))  # the program's own flags, to have all of it
RENAMED = re.compile(
    r"\busing\s{1,9}(?:half2?|nv_bfloat16)\s*=|\btypedef\b[^;]{1,99}\b(?:half2?|nv_bfloat16)\s*;"
)
BINARY = ("+", "-", "*", "/", "<", ">")
LONGEST = 300  # tokens of a variable's declaration
NO_TYPES = ("return", "else", "throw", "delete", "goto", "case")
FUNCTIONS = "use __hadd, __hmul, __hlt, ... or count in float (__half2float, __float2half)"


def without(flags: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """Which of PyTorch's four flags still hold behind these of the program, and in these sources.

    None where one of the short names is the program's own, perhaps for a type of PyTorch.
    """
    texts = list(texts)
    if any(RENAMED.search(text) for text in texts):
        return frozenset()
    undone = {flag.removeprefix("-U") for flag in flags}
    return frozenset(name for name in ALL - undone if not any(f"#undef {name}" in text for text in texts))


def taken(tokens: Tokens, begin: int, body: int, end: int, flags: frozenset[str]) -> dict[int, str]:
    """The errors in a function with its head at ``begin``, its body from ``body`` to ``end``, by place."""
    declared = _declared(tokens, begin, body, end)
    found: dict[int, str] = {}
    for i in range(body, end):
        token = tokens[i]
        before, after = previous(tokens, i), following(tokens, i)
        kind = TYPES.get(token.text, "")
        if kind in CONVERSIONS and CONVERSIONS[kind] in flags and tokens.at(after) == "(":
            number = following(tokens, after)
            if tokens[number].kind == "num" and tokens.at(following(tokens, number)) == ")":
                found[i] = (
                    f'no instance of constructor "{kind}::{kind}" matches the argument list: PyTorch '
                    f"compiles with -D{CONVERSIONS[kind]}; use {_made(kind)}"
                )
        kind = declared.get(token.text, "")
        if not kind or tokens.at(before) in (".", "->", "::"):
            continue
        if OPERATORS.get(kind) in flags and (name := _operator(tokens, before, after)):
            found[i] = (
                f'no operator "{name}" matches these operands: {token.text} is a {kind}, and PyTorch '
                f"compiles with -D{OPERATORS[kind]}; {FUNCTIONS}"
            )
        elif CONVERSIONS.get(kind) in flags and _is_converted(tokens, before, after):
            found[i] = (
                f'no suitable conversion function from "{kind}" to "float" exists: PyTorch compiles with '
                f"-D{CONVERSIONS[kind]}; use {_given(kind)}"
            )
    return found


def _made(kind: str) -> str:
    return "__float2half" if kind == HALF[0] else "__float2bfloat16"


def _given(kind: str) -> str:
    return "__half2float" if kind == HALF[0] else "__bfloat162float"


def _declared(tokens: Tokens, begin: int, body: int, end: int) -> dict[str, str]:
    """Names of parameters and variables that have one of the types, and no other one, in the function."""
    found: dict[str, str] = {}
    others: set[str] = set()
    i = begin
    while i < end:
        token = tokens[i]
        after = following(tokens, i)
        if token.kind != "id" or after >= end or tokens[after].kind != "id":
            if token.text in ("*", "&", ">") and after < end and tokens[after].kind == "id":
                others.add(tokens[after].text)  # perhaps a pointer, a reference, or of a template's type
            i += 1
            continue
        if token.text not in TYPES:
            if token.text not in NO_TYPES:
                others.add(tokens[after].text)
            i = after
            continue
        name = after
        while tokens.at(name).isidentifier():
            found[tokens[name].text] = TYPES[token.text]
            stop, depth = following(tokens, name), 0
            last = min(end, stop + LONGEST) if i >= body else stop
            while stop < last and (depth or tokens[stop].text not in (",", ";", ")")):
                depth += (tokens[stop].text in "([{") - (tokens[stop].text in ")]}")
                stop += 1
            if i < body or tokens.at(stop) != ",":
                break
            name = following(tokens, stop)
        i = after
    return {name: kind for name, kind in found.items() if name not in others}


def _operator(tokens: Tokens, before: int, after: int) -> str:
    """The operator of which a name between these tokens is the left operand, or its only one; else ""."""
    text, next_ = tokens.at(after), tokens.at(after + 1)
    if text in BINARY and next_ != text:
        return text + "=" * (next_ == "=")
    return "-" if tokens.at(before) == "-" and tokens.at(previous(tokens, before)) in ("=", "(", ",") else ""


def _is_converted(tokens: Tokens, before: int, after: int) -> bool:
    """Whether a name between these tokens is made a float: float(a), (float)a, static_cast<float>(a)."""
    if tokens.at(before) == "(" and tokens.at(after) == ")":
        called = previous(tokens, before)
        if tokens.at(called) == ">":
            called = previous(tokens, called)
            return tokens.at(called) == "float" and tokens.at(previous(tokens, previous(tokens, called))) == (
                "static_cast"
            )
        return tokens.at(called) == "float"
    cast = previous(tokens, before)
    return (
        tokens.at(before) == ")"
        and tokens.at(cast) == "float"
        and tokens.at(previous(tokens, cast)) == "("
        and tokens.at(previous(tokens, previous(tokens, cast))) not in ("sizeof", "alignof")
    )
