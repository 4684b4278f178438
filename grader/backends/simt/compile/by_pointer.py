"""Kernels that are handed to the runtime API as pointers get their name and their type back.

``cudaLaunchKernel((const void*)kernel, ...)`` becomes ``cudaLaunchKernel(::simt::named(SIMT_NAME(kernel),
kernel), ...)``: a pointer to void says neither what the kernel is called nor what its arguments are. Where
such a pointer is made elsewhere, ``(void*)kernel<T>``, both are remembered by its address. A function of the
host stays a pointer, which the runtime does not know: no GPU could launch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.simt.compile.spaces import of_the_host
from grader.backends.simt.compile.tokens import (
    Token,
    Tokens,
    closing,
    following,
    joined,
    previous,
    split_commas,
)

if TYPE_CHECKING:
    from collections.abc import Collection

LONGEST = 100  # tokens of an expression that is taken for a kernel's address
# Which argument the kernel is.
LAUNCHES = {
    "cudaLaunchKernel": 0,
    "cudaLaunchCooperativeKernel": 0,
    "cudaLaunchKernelEx": 1,
    "cudaLaunchKernelExC": 1,
}


def name_kernels(tokens: Tokens) -> Tokens:
    """``tokens`` with the kernel of each such call rewritten."""
    out, others = Tokens(tokens), of_the_host(tokens)
    for i, token in enumerate(tokens):
        open_ = following(tokens, i)
        if token.text not in LAUNCHES or open_ >= len(tokens) or tokens[open_].text != "(":
            continue
        end = closing(tokens, open_)
        if end < 0:
            continue
        arguments = split_commas(tokens[open_ + 1 : min(end, open_ + LONGEST)])
        which = LAUNCHES[token.text]
        if len(arguments) <= which or (len(arguments) == which + 1 and end >= open_ + LONGEST):
            continue
        first = open_ + 1 + sum(len(before) + 1 for before in arguments[:which])
        given = arguments[which]
        name = " ".join(joined(_without_cast(given)).split())
        lines = "\n" * joined(given).count("\n")
        address = f"(const void*){name}" if name in others else name
        out[first] = Token("op", f"::simt::named(SIMT_NAME({name}), {address}){lines}")
        for k in range(first + 1, first + len(given)):
            out[k] = Token("space", "")
    return out


def remember_addresses(tokens: Tokens, kernels: Collection[str]) -> Tokens:
    """``tokens`` with each ``(void*)kernel`` told to the runtime, for who launches it by the pointer."""
    out = Tokens(tokens)
    for i, token in enumerate(tokens):
        if token.text not in kernels or not _is_cast_to_void(tokens, i):
            continue
        end = _end_of_name(tokens, i)
        text = joined(tokens[i : end + 1])
        name = " ".join(text.replace("\\\n", " ").split())
        lines = ("\\\n" if "\\\n" in text else "\n") * text.count("\n")  # in a macro each line goes on
        out[i] = Token("op", f"::simt::kernel_address(::simt::named(SIMT_NAME({name}), {name})){lines}")
        for k in range(i + 1, end + 1):
            out[k] = Token("space", "")
    return out


def _is_cast_to_void(tokens: Tokens, i: int) -> bool:
    """Whether ``(void*)`` stands before the token at ``i``."""
    before: list[str] = []
    k = previous(tokens, i)
    while k >= 0 and len(before) < 4:
        before.append(tokens[k].text)
        k = previous(tokens, k)
    return before[:3] == [")", "*", "void"] and before[3:4] in (["("], ["const"])


def _end_of_name(tokens: Tokens, i: int) -> int:
    """The last token of a name and its template arguments."""
    first, depth = following(tokens, i), 0
    if tokens.at(first) != "<":
        return i
    for k in range(first, min(first + LONGEST, len(tokens))):
        text = tokens[k].text
        depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
        if depth <= 0:
            return k
    return i


def _without_cast(tokens: list[Token]) -> list[Token]:
    """``kernel`` from ``(void*)kernel``, ``(const void *) &kernel`` or a named cast."""
    words = [t for t in tokens if t.kind != "space"]
    texts = [t.text for t in words]
    if texts[:1] == ["("] and "void" in texts[:4] and ")" in texts[:6]:
        words = words[texts.index(")") + 1 :]
    elif texts and texts[0] in ("reinterpret_cast", "static_cast") and "(" in texts:
        words = words[texts.index("(") + 1 : -1]
    texts = [t.text for t in words]
    if texts[:1] == ["&"]:
        words = words[1:]
    elif texts[:1] == ["("] and texts[-1:] == [")"]:
        return _without_cast(words[1:-1])
    return words
